import type { SequenceState } from '../engine/sequence-state.ts';
import { readNumbers } from './read-numbers.ts';

/**
 * The attention that tokens pay to cells in the last layer of both states: of each token and query head
 * softmax(q·k ÷ √d) over these cells alone, averaged over tokens and heads.
 * @param asking cells whose keys in their last layer are queries, one head for each query head
 * @param seen cells with as many heads, or with fewer that query heads share in groups
 * @param from of the cells that are seen, those from that one on
 * @returns [cell], 1 in all
 * @throws RangeError where heads do not divide each other, or differ in size
 * @see Attention Is All You Need, arXiv 1706.03762; grouped queries: arXiv 2305.13245
 */
export function meanAttention(asking: SequenceState, seen: SequenceState, from = 0): Float64Array {
  const { heads, headDimension } = asking.layout;
  const { heads: kvHeads } = seen.layout;
  if (heads % kvHeads !== 0 || headDimension !== seen.layout.headDimension) {
    throw new RangeError(`${heads} query heads of ${headDimension} numbers cannot share ${kvHeads} heads`);
  }
  const queries = readNumbers(asking.keys.at(-1)!, asking.layout.keyType);
  const keys = readNumbers(seen.keys.at(-1)!, seen.layout.keyType);
  const [tokens, cells] = [asking.positions.length, seen.positions.length - from];
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
