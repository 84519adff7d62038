import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { BenchError } from '../base/bench-error.ts';
import { numberBytes, numberTypes } from '../engine/sequence-state.ts';
import { quantisedTypes } from '../store/records/prefill-record.ts';
import { groupBytes, kernelNames, type Kernels, loadNativeKernels, nativeFile, wasmKernels } from './kernels.ts';
import { giveMemoryBack, PARAMETERS_AT, takeMemory, wholeMemory } from './wasm-arena.ts';

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
