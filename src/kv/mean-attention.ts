import type { SequenceState } from '../engine/sequence-state.ts';
import { readNumbers } from '../base/float16.ts';

/**
 * Attention of some tokens to cells, in the last layer of both states: softmax(q·k ÷ √d) over these cells, for each token
 * and query head, averaged over tokens and heads.
 * @param queryState holds queries in place of its keys, with one head per query head
 * @param cellState has as many heads, or fewer that groups of query heads share
 * @param from the first cell that counts
 * @returns [cell], with sum 1
 * @throws RangeError if the heads cannot be shared evenly, or differ in size
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

function addSoftmax(sums: Float64Array, logits: Float64Array, divisor: number): void {
  let largest = -Infinity;
  for (const logit of logits) largest = Math.max(largest, logit);
  let total = 0;
  for (const logit of logits) total += Math.exp(logit - largest);
  for (let at = 0; at < logits.length; at++) sums[at]! += Math.exp(logits[at]! - largest) / (total * divisor);
}
