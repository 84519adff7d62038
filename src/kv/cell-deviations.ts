import { sameLayout, type SequenceState } from '../engine/sequence-state.ts';
import { readNumbers } from '../base/float16.ts';

/**
 * How much each cell differs between two states: the squared distances of its keys and values, summed over heads and layers.
 * @param firstLayer first layer that counts
 * @returns [cell]
 * @throws RangeError if layouts or numbers of cells differ
 */
export function cellDeviations(a: SequenceState, b: SequenceState, firstLayer = 0): Float64Array {
  const { layout, positions } = a;
  if (!sameLayout(layout, b.layout) || positions.length !== b.positions.length) {
    throw new RangeError(
      `${positions.length} cells cannot be compared with ${b.positions.length} cells, or their layouts differ`,
    );
  }
  const cells = positions.length;
  const row = layout.heads * layout.headDimension;
  const deviations = new Float64Array(cells);
  const addDistances = (numbers: Float32Array, others: Float32Array, isTransposed: boolean): void =>
    numbers.forEach((number, at) => {
      const cell = isTransposed ? at % cells : Math.floor(at / row);
      deviations[cell]! += (number - others[at]!) ** 2;
    });
  const { keyType, valueType, valuesTransposed } = layout;
  for (let layer = firstLayer; layer < layout.layers; layer++) {
    addDistances(readNumbers(a.keys[layer]!, keyType), readNumbers(b.keys[layer]!, keyType), false);
    const [values, others] = [a.values[layer]!, b.values[layer]!].map((bytes) => readNumbers(bytes, valueType));
    addDistances(values!, others!, valuesTransposed);
  }
  return deviations;
}
