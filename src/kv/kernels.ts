import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { NumberType, Rotary } from '../engine/sequence-state.ts';
import type { QuantisedType } from '../store/records/prefill-record.ts';
import { arena, wholeMemory } from './wasm-arena.ts';

// Neither Node's types nor the library of the language declare it.
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
};

/** Numbers that share a scale. */
export const GROUP = 32;
export const SCALE_BYTES = 2;
/** Bytes of 32 numbers: a scale in half precision, and 8 or 4 bits each. */
export const groupBytes: Readonly<Record<QuantisedType, number>> = {
  q8_0: SCALE_BYTES + GROUP,
  q4_0: SCALE_BYTES + GROUP / 2,
};

export const kernelNames = ['native', 'wasm'] as const;

/** Ranges of equal length in the arena, one a layer, and the addresses where they go. */
export interface LayerMoves {
  readonly sources: readonly number[];
  /** None of them among the sources, unless a kernel says so. */
  readonly targets: readonly number[];
  /** Of each range; at least 1. */
  readonly sizeBytes: number;
}

/** The keys that a rotation works on. */
export interface RotationShape {
  readonly pairing: Rotary['pairing'];
  readonly type: NumberType;
  /** Numbers of a vector that are rotated: a multiple of 8, at least 16. */
  readonly dimensions: number;
  readonly headDimension: number;
}

/**
 * The kernels that move a block to its place in a joined state, in native code or WebAssembly. Both are compiled from
 * `scripts/kv-kernels`, work in the arena and give the same bits.
 */
export interface Kernels {
  readonly name: (typeof kernelNames)[number];
  /**
   * Rotates vectors; numbers that are not rotated are neither read nor written.
   * @param angles address of the cosines of a vector, and behind them as many sines: one a pair (i, i + dimensions/2), or
   * one a number of the pairs (2i, 2i+1), the first sine negated
   * @returns false where a number is not finite, or too large to be rotated
   */
  rotate(shape: RotationShape, moves: LayerMoves, angles: number): boolean;
  /** Copies contiguous rows to where they begin `targetRowBytes` apart. */
  spreadRows(moves: LayerMoves, rowBytes: number, targetRowBytes: number): void;
  /**
   * Multiplies numbers, with one rounding each. Targets may be the sources.
   * @returns false where a number or a product is not finite
   */
  scale(type: NumberType, moves: LayerMoves, factor: number): boolean;
  /**
   * Restores groups of 32 quantised numbers; what is too large becomes the largest number of the type.
   * @param moves whole groups, restored one range after the other
   * @returns false where a scale is not finite
   */
  restore(quantised: QuantisedType, type: NumberType, moves: LayerMoves): boolean;
}

type RotationName = `rotate${'Norm' | 'Neox'}${NumberType}`;

function rotationName({ pairing, type }: RotationShape): RotationName {
  return `rotate${pairing === 'norm' ? 'Norm' : 'Neox'}${type}`;
}

type ScaleName = `scale${NumberType}`;
type RestoreName = `restore_${QuantisedType}_${NumberType}`;
type MovingExport = RotationName | ScaleName | RestoreName | 'spreadRows';

/** The exports of `kv-kernels.wasm`. Those that calculate return 1 where a number is not finite or too large, else 0. */
type WasmExports = Readonly<
  // source, end of source, target, angles, dimensions, head dimension
  Record<RotationName, (...numbers: [number, number, number, number, number, number]) => number> &
    Record<ScaleName, (source: number, sourceEnd: number, target: number, factor: number) => number> &
    Record<RestoreName, (source: number, sourceEnd: number, target: number) => number> &
    Record<`transpose${NumberType}`, (source: number, rows: number, columns: number, target: number) => void> &
    Record<'spreadRows' | 'gatherRows', (...numbers: [number, number, number, number, number]) => void>
>;

/** The same paths from src/kv and from dist/kv. */
const wasmFile = new URL('../../scripts/kv-kernels/kv-kernels.wasm', import.meta.url);
export const nativeFile = fileURLToPath(new URL('../../build/kv-kernels/kv-kernels.node', import.meta.url));

/** The WebAssembly module on the memory of the arena. */
export const wasm = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(wasmFile)), {
  env: { memory: arena },
}).exports as WasmExports;

/** The kernels in WebAssembly, which run everywhere; native ones must give their bits. */
export const wasmKernels: Kernels = {
  name: 'wasm',
  rotate: (shape, { sources, targets, sizeBytes }, angles) => {
    const rotate = wasm[rotationName(shape)];
    const { dimensions, headDimension } = shape;
    return sources.every(
      (source, layer) => rotate(source, source + sizeBytes, targets[layer]!, angles, dimensions, headDimension) === 0,
    );
  },
  spreadRows: ({ sources, targets, sizeBytes }, rowBytes, targetRowBytes) =>
    sources.forEach((source, layer) =>
      wasm.spreadRows(source, sizeBytes / rowBytes, rowBytes, targets[layer]!, targetRowBytes),
    ),
  scale: (type, { sources, targets, sizeBytes }, factor) =>
    sources.every((source, layer) => wasm[`scale${type}`](source, source + sizeBytes, targets[layer]!, factor) === 0),
  restore: (quantised, type, { sources, targets, sizeBytes }) => {
    const restore = wasm[`restore_${quantised}_${type}`];
    return sources.every((source, index) => restore(source, source + sizeBytes, targets[index]!) === 0);
  },
};

/** A function of `scripts/kv-kernels/addon.c`; it moves the ranges of all layers in one call. */
type NativeKernel = (
  memory: Uint8Array,
  sources: Uint32Array,
  targets: Uint32Array,
  ...sizeBytesAndMore: readonly number[]
) => number;

/**
 * The kernels that were compiled for this machine at install time.
 * @throws Error if they were not compiled, do not load, or need instructions that the processor lacks
 */
export function loadNativeKernels(): Kernels {
  const addon = createRequire(import.meta.url)(nativeFile) as Record<MovingExport, NativeKernel>;
  const run = (kernel: NativeKernel, { sources, targets, sizeBytes }: LayerMoves, ...numbers: number[]): number =>
    kernel(wholeMemory(), new Uint32Array(sources), new Uint32Array(targets), sizeBytes, ...numbers);
  return {
    name: 'native',
    rotate: (shape, moves, angles) =>
      run(addon[rotationName(shape)], moves, angles, shape.dimensions, shape.headDimension) === 0,
    spreadRows: (moves, rowBytes, targetRowBytes) => void run(addon.spreadRows, moves, rowBytes, targetRowBytes),
    scale: (type, moves, factor) => run(addon[`scale${type}`], moves, floatBits(factor)) === 0,
    restore: (quantised, type, moves) => run(addon[`restore_${quantised}_${type}`], moves) === 0,
  };
}

function floatBits(number: number): number {
  return new Uint32Array(Float32Array.of(number).buffer)[0]!;
}
