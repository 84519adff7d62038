import { ownedState, type SequenceState } from '../engine/sequence-state.ts';

/**
 * Copies a state and repeats each head once per query head that shares it (as for grouped-query attention).
 * @param heads number of heads after that: a multiple of the state's
 * @throws RangeError if it is no multiple
 */
export function repeatHeads(state: SequenceState, heads: number): SequenceState {
  const { layout, positions, tokenIds } = state;
  const times = heads / layout.heads;
  if (!Number.isInteger(times) || times < 1)
    throw new RangeError(`${layout.heads} heads cannot be repeated to ${heads}`);
  const cells = positions.length;
  // Contiguous pieces are the heads of each cell, or, if transposed, all cells of a head.
  const repeated = (tensor: Uint8Array, isTransposed: boolean): Uint8Array =>
    eachRepeated(tensor, tensor.length / (layout.heads * (isTransposed ? 1 : cells)), times);
  return ownedState({
    layout: { ...layout, heads },
    positions: positions.slice(),
    tokenIds: tokenIds.slice(),
    keys: state.keys.map((tensor) => repeated(tensor, false)),
    values: state.values.map((tensor) => repeated(tensor, layout.valuesTransposed)),
  });
}

function eachRepeated(tensor: Uint8Array, pieceBytes: number, times: number): Uint8Array {
  const result = new Uint8Array(tensor.length * times);
  let at = 0;
  for (let start = 0; start < tensor.length; start += pieceBytes) {
    const piece = tensor.subarray(start, start + pieceBytes);
    for (let copy = 0; copy < times; copy++, at += pieceBytes) result.set(piece, at);
  }
  return result;
}
