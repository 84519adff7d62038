import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { NumberType, Rotary } from '../engine/sequence-state.ts';
import { wholeMemory } from './kernel-memory.ts';
import type { LayerMoves, MovingKernels } from './moving-kernels.ts';

/** The functions of `scripts/kv-kernels/addon.c`; addresses and lengths in bytes. */
type Addon = Readonly<
  Record<
    `rotate${'Norm' | 'Neox'}${NumberType}`,
    NativeKernel<[angles: number, dimensions: number, headDimension: number]>
  > &
    Record<'spreadRows', NativeKernel<[rowBytes: number, targetRowBytes: number]>>
>;

type NativeKernel<Numbers extends readonly number[]> = (
  memory: Uint8Array,
  sources: Uint32Array,
  targets: Uint32Array,
  rangeBytes: number,
  ...numbers: Numbers
) => number;

const PAIRING_NAME = { norm: 'Norm', neox: 'Neox' } as const satisfies Record<Rotary['pairing'], string>;

const require = createRequire(import.meta.url);
/** The same path from src/kv and from dist/kv. */
export const nativeMovingKernelsFile = fileURLToPath(
  new URL('../../build/kv-kernels/kv-kernels.node', import.meta.url),
);

/**
 * The kernels that `scripts/kv-kernels/prepare-kv-kernels.mjs` compiled for this machine at install time.
 * @throws Error if they were not compiled, do not load, or need instructions that the processor lacks
 */
export function loadNativeMovingKernels(): MovingKernels {
  const addon = require(nativeMovingKernelsFile) as Addon;
  return {
    name: 'native',
    rotation: ({ pairing, type, dimensions, headDimension }) => {
      const rotate = addon[`rotate${PAIRING_NAME[pairing]}${type}`];
      return {
        unit: 1,
        rotate: (moves, angles) => rotate(...rangesOf(moves), angles, dimensions, headDimension) === 0,
      };
    },
    spreadRows: (moves, rowBytes, targetRowBytes) =>
      void addon.spreadRows(...rangesOf(moves), rowBytes, targetRowBytes),
  };
}

function rangesOf({ sources, targets, sizeBytes }: LayerMoves): [Uint8Array, Uint32Array, Uint32Array, number] {
  return [wholeMemory(), new Uint32Array(sources), new Uint32Array(targets), sizeBytes];
}
