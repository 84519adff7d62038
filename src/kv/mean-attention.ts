import type { SequenceState } from '../engine/sequence-state.ts';
import { ownedState } from './cut-cells.ts';
import { readNumbers } from '../base/float16.ts';

/**
 * The attention of some tokens to cells in the last layer of both states: for each token and query head
 * softmax(q·k ÷ √d) over these cells alone, averaged over tokens and heads.
 * @param queryState cells whose keys in their last layer are queries, one head for each query head
 * @param cellState cells with as many heads, or with fewer that query heads share in groups
 * @param from the first of those cells
 * @returns [cell], 1 in all
 * @throws RangeError where heads do not divide each other, or differ in size
 * @see Attention Is All You Need, arXiv 1706.03762; grouped queries: arXiv 2305.13245
 */
export function meanAttention(queryState: SequenceState, cellState: SequenceState, from = 0): Float64Array {
  const { heads, headDimension } = queryState.layout;
  const { heads: kvHeads } = cellState.layout;
  if (heads % kvHeads !== 0 || headDimension !== cellState.layout.headDimension) {
    throw new RangeError(`${heads} query heads of ${headDimension} numbers cannot share ${kvHeads} heads`);
  }
  const queries = readNumbers(queryState.keys.at(-1)!, queryState.layout.keyType);
  const keys = readNumbers(cellState.keys.at(-1)!, cellState.layout.keyType);
  const [tokens, cells] = [queryState.positions.length, cellState.positions.length - from];
  const attention = new Float64Array(cells);
  const logits = new Float64Array(cells);
  for (let row = 0; row < tokens * heads; row++) {
    const kvHead = Math.floor(((row % heads) * kvHeads) / heads);
    for (let cell = 0; cell < cells; cell++) {
      const key = ((from + cell) * kvHeads + kvHead) * headDimension;
      let product = 0;
      for (let at = 0; at < headDimension; at++) product += queries[row * headDimension + at]! * keys[key + at]!;
      logits[cell] = product / Math.sqrt(headDimension);
    }
    addSoftmax(attention, logits, tokens * heads);
  }
  return attention;
}

/** Adds the softmax of logits, divided by a number. */
function addSoftmax(sums: Float64Array, logits: Float64Array, divisor: number): void {
  let largest = -Infinity;
  for (const logit of logits) largest = Math.max(largest, logit);
  let total = 0;
  for (const logit of logits) total += Math.exp(logit - largest);
  for (let at = 0; at < logits.length; at++) sums[at]! += Math.exp(logits[at]! - largest) / (total * divisor);
}

/**
 * A copy of a state with the keys and values of each head as often as query heads share it, so that each of these finds its
 * own in its place.
 * @param heads a multiple of the state's
 * @throws RangeError for any other number
 */
export function repeatHeads(state: SequenceState, heads: number): SequenceState {
  const { layout, positions, tokenIds } = state;
  const times = heads / layout.heads;
  if (!Number.isInteger(times) || times < 1)
    throw new RangeError(`${layout.heads} heads cannot be repeated to ${heads}`);
  const cells = positions.length;
  // Behind one another lie the heads of a cell, or, transposed, all cells of a head.
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
