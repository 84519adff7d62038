import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { NumberType, Rotary } from '../engine/sequence-state.ts';
import type { QuantisedType } from '../store/records/prefill-record.ts';
import { arena, wholeMemory } from './wasm-arena.ts';

// Declared here because neither Node's types nor TypeScript's `lib` do.
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
};

/** Quantised numbers that share one scale. */
export const GROUP = 32;
export const SCALE_BYTES = 2;
/** Bytes of one group: a half-precision scale, and 8 or 4 bits per number. */
export const groupBytes: Readonly<Record<QuantisedType, number>> = {
  q8_0: SCALE_BYTES + GROUP,
  q4_0: SCALE_BYTES + GROUP / 2,
};

export const kernelNames = ['native', 'wasm'] as const;

/** Ranges of equal length in the arena, one per layer, and the addresses of their targets. */
export interface LayerMoves {
  readonly sources: readonly number[];
  /** Must not be among the sources unless the kernel allows it. */
  readonly targets: readonly number[];
  /** Bytes of each range; at least 1. */
  readonly sizeBytes: number;
}

/** Shape of the keys to rotate. */
export interface RotationShape {
  readonly pairing: Rotary['pairing'];
  readonly type: NumberType;
  /** Rotated numbers per vector: a multiple of 8, at least 16. */
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
   * Rotates vectors; neither reads nor writes the numbers that are not rotated.
   * @param angles address of cosines followed by as many sines. `neox`: one for each pair (i, i + dimensions/2). `norm`: one
   * for each number of the pairs (2i, 2i+1), with the first sine negated
   * @returns false if a number is not finite, or too large to be rotated
   */
  rotate(shape: RotationShape, moves: LayerMoves, angles: number): boolean;
  /** Copies contiguous rows to targets that are `targetRowBytes` apart. */
  spreadRows(moves: LayerMoves, rowBytes: number, targetRowBytes: number): void;
  /**
   * Multiplies numbers, rounding once. Targets may be the sources.
   * @returns false if a number or a product is not finite
   */
  scale(type: NumberType, moves: LayerMoves, factor: number): boolean;
  /**
   * Restores groups of 32 quantised numbers; numbers too large for the type become its largest one.
   * @param moves whole groups, restored one range after another
   * @returns false if a scale is not finite
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

/** The exports of `kv-kernels.wasm`. Those that calculate return 1 if a number is not finite or too large, else 0. */
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

/** The kernels in WebAssembly, which run everywhere. Native kernels must give the same bits. */
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
