import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BenchError } from '../base/bench-error.ts';
import { numberBytes, type NumberType, numberTypes, type Rotary } from '../engine/sequence-state.ts';
import { type QuantisedType, quantisedTypes } from '../store/records/prefill-record.ts';
import { arena, giveMemoryBack, PARAMETERS_AT, takeMemory, wholeMemory } from './wasm-arena.ts';

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

const kernelNames = ['native', 'wasm'] as const;

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

/**
 * Chooses native kernels if they were compiled here and pass a trial against WebAssembly, else WebAssembly.
 * @param forced `native` or `wasm`; default: the environment variable `DKI_BENCH_KV_KERNELS`
 * @returns `rejectedBackends`: why native kernels are not used; null if they are
 * @throws BenchError `bad-option` for an unknown name, or if native kernels are forced and do not work here
 */
export function chooseKernels(forced = process.env['DKI_BENCH_KV_KERNELS'] ?? '') {
  if (forced !== '' && !(kernelNames as readonly string[]).includes(forced)) {
    const hint = `DKI_BENCH_KV_KERNELS is one of ${kernelNames.join(', ')}`;
    throw new BenchError('bad-option', `unknown KV kernels '${forced}'`, hint);
  }
  if (forced === 'wasm') return { kernels: wasmKernels, rejectedBackends: 'DKI_BENCH_KV_KERNELS is wasm' };
  try {
    const kernels = loadNativeKernels();
    tryKernels(kernels);
    return { kernels, rejectedBackends: null };
  } catch (cause) {
    // One line without local folders, since reports are shared.
    const message = (cause as Error).message.split('\n')[0]!.replaceAll(nativeFile, basename(nativeFile));
    const reason = existsSync(nativeFile) ? message : 'not compiled';
    if (forced === '') return { kernels: wasmKernels, rejectedBackends: reason };
    const hint = 'unset DKI_BENCH_KV_KERNELS, or run npm rebuild after apt-get install gcc libc6-dev';
    throw new BenchError('bad-option', `native KV kernels do not work here: ${reason}`, hint, cause);
  }
}

let chosen: ReturnType<typeof chooseKernels> | undefined;

/** The kernels of this process, chosen when first needed. @throws BenchError as `chooseKernels` */
export function kernelChoice() {
  return (chosen ??= chooseKernels());
}

const TRIAL_BYTES = 4096;

/** Compares kernels with those in WebAssembly on small inputs. @throws Error if a bit differs */
export function tryKernels(kernels: Kernels): void {
  const source = takeMemory(2 * TRIAL_BYTES);
  if (source === undefined) throw new Error('no memory for the trial of kernels');
  const target = source + TRIAL_BYTES;
  const isSame = (act: (on: Kernels) => void): boolean => {
    const [expected, actual] = [wasmKernels, kernels].map((on) => {
      wholeMemory().fill(0, target, target + TRIAL_BYTES);
      act(on);
      return wholeMemory().slice(target, target + TRIAL_BYTES);
    });
    return Buffer.compare(expected!, actual!) === 0;
  };
  try {
    // Numbers below 2 in both types, including subnormal ones.
    const numbers = Uint16Array.from({ length: TRIAL_BYTES / 2 }, (_, index) => (index * 8191) & 0xbfff);
    wholeMemory().set(new Uint8Array(numbers.buffer), source);
    const angles = Float32Array.from({ length: 2 * 24 }, (_, index) => Math.cos(index));
    wholeMemory().set(new Uint8Array(angles.buffer), PARAMETERS_AT);
    const pairings = ['norm', 'neox'] as const;
    for (const [pairing, type] of pairings.flatMap((each) => numberTypes.map((type) => [each, type] as const))) {
      const moves = { sources: [source], targets: [target], sizeBytes: 16 * 32 * numberBytes(type) };
      const rotate = (on: Kernels): void => {
        const isGood = on.rotate({ pairing, type, dimensions: 24, headDimension: 32 }, moves, PARAMETERS_AT);
        if (!isGood) throw new Error('a rotation refused good keys');
      };
      if (!isSame(rotate)) throw new Error(`a rotation of ${pairing} ${type} keys differs`);
    }
    for (const type of numberTypes) {
      const moves = { sources: [source], targets: [target], sizeBytes: 101 * numberBytes(type) };
      if (!isSame((on) => void on.scale(type, moves, 0.4))) throw new Error(`${type} values are scaled otherwise`);
      for (const quantised of quantisedTypes) {
        const groups = { ...moves, sizeBytes: 10 * groupBytes[quantised] };
        if (!isSame((on) => void on.restore(quantised, type, groups))) {
          throw new Error(`${quantised} numbers are restored as other ${type} numbers`);
        }
      }
    }
    // Each length for which the kernels have separate code.
    for (const rowBytes of [3, 9, 20, 100]) {
      const moves = { sources: [source], targets: [target + 1], sizeBytes: 6 * rowBytes };
      if (!isSame((on) => on.spreadRows(moves, rowBytes, 2 * rowBytes + 1))) {
        throw new Error(`a copy of rows of ${rowBytes} bytes differs`);
      }
    }
  } finally {
    giveMemoryBack(source, 2 * TRIAL_BYTES);
  }
}
