import { type KvLayout, numberBytes, valueRowBytes } from '../engine/sequence-state.ts';
import { movingKernels } from './choose-moving-kernels.ts';
import { wholeMemory } from './kernel-memory.ts';
import type { MovingKernels } from './moving-kernels.ts';

/** The place of a block's values among those of a state. */
export interface ValuePlace {
  /** Addresses of the values of all cells of the state, one a layer. */
  readonly addresses: readonly number[];
  /** Of the state. */
  readonly cells: number;
  /** The cell of the state at which the block begins. */
  readonly start: number;
}

/**
 * Puts the values of a block beside those of the others, as the layout has them: behind one another, or, transposed, a
 * piece in the row of each dimension.
 * @param sources addresses of the values of `cells` cells, one a layer, in the memory of the kernels
 */
export function placeValues(
  sources: readonly number[],
  cells: number,
  { addresses, cells: stateCells, start }: ValuePlace,
  layout: KvLayout,
  kernels: MovingKernels = movingKernels(),
): void {
  const cellBytes = valueRowBytes(layout);
  const sizeBytes = cells * cellBytes;
  if (!layout.valuesTransposed) {
    const memory = wholeMemory();
    addresses.forEach((address, layer) => {
      const source = sources[layer]!;
      memory.copyWithin(address + start * cellBytes, source, source + sizeBytes);
    });
    return;
  }
  const elementBytes = numberBytes(layout.valueType);
  const targets = addresses.map((address) => address + start * elementBytes);
  kernels.spreadRows({ sources, targets, sizeBytes }, cells * elementBytes, stateCells * elementBytes);
}
