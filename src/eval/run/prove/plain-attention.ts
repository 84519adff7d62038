import { mean } from 'simple-statistics';
import { product } from '../../../base/vectors.ts';
import type { CallOptions } from '../../../engine/call-options.ts';
import { type CellMaker, expectedCells } from './expected-cells.ts';
import { type PlainCell, plainCells, stateOf } from './plain-cells.ts';
import type { ScoredParts, TokenScores } from './token-scores.ts';

/**
 * ln of the attention that the question pays to each memory token in the middle layer, averaged over its tokens and over heads:
 * queries from a session of its own behind cells that are made anew, products and softmax in 64-bit floats.
 */
export async function attentionOfQuestion(
  maker: CellMaker,
  { header, lines, making, keptAs, suffix, question }: ScoredParts,
  rounding: number,
  options: CallOptions,
): Promise<TokenScores> {
  const middle = Math.floor(maker.cells.layout.layers / 2);
  const joined = await expectedCells(maker, 'blocks', { header, lines, making, keptAs }, 1, options);
  const part = await maker.engine.firstLayers(middle + 1, { ...options, queries: true });
  const { layout } = part.capabilities.cells!;
  await using session = await part.openSession('proof of a selection', options);
  const repeated = joined.map((cell) => withHeads(cell, layout.headDimension, layout.heads));
  await session.importCells(stateOf(repeated, layout), options);
  await session.evaluate(suffix.slice(0, Math.max(question.end, maker.leastTokens)), options);
  const range = { start: joined.length + question.start, end: joined.length + question.end };
  using state = await session.exportCells(range, options);
  const queries = plainCells(state).flatMap(({ keys }) => headsOf(keys[middle]!, layout.headDimension));
  const keys = repeated.map((cell) => headsOf(cell.keys[middle]!, layout.headDimension));
  const root = Math.sqrt(layout.headDimension);
  const attention = joined.map(() => 0);
  for (const [at, query] of queries.entries()) {
    const logits = keys.map((heads, cell) =>
      cell < header.length ? -Infinity : product(query, heads[at % layout.heads]!) / root,
    );
    const largest = Math.max(...logits);
    const powers = logits.map((logit) => Math.exp(logit - largest));
    const total = powers.reduce((sum, power) => sum + power, 0);
    powers.forEach((power, cell) => (attention[cell]! += power / total / queries.length));
  }
  const longest = (vectors: readonly Float64Array[]): number =>
    Math.sqrt(Math.max(...vectors.map((v) => product(v, v))));
  return {
    scores: attention.map((share) => Math.log(share)),
    // A product of two rounded vectors is off by twice the rounding, ln of a softmax by twice that, each of two scores once.
    tolerance: (2 * 2 * 2 * rounding * longest(queries) * longest(keys.flat())) / root,
    ofRun: (logarithms) => Math.log(mean(logarithms.map(Math.exp))),
  };
}

/** A cell with each K/V head once for each query head that shares it. */
function withHeads(cell: PlainCell, headDimension: number, heads: number): PlainCell {
  const repeated = (numbers: Float64Array): Float64Array => {
    const own = headsOf(numbers, headDimension);
    const all = Array.from({ length: heads }, (_, head) => own[Math.floor((head * own.length) / heads)]!);
    return Float64Array.from(all.flatMap((head) => [...head]));
  };
  return { ...cell, keys: cell.keys.map(repeated), values: cell.values.map(repeated) };
}

function headsOf(numbers: Float64Array, headDimension: number): Float64Array[] {
  return Array.from({ length: numbers.length / headDimension }, (_, head) =>
    numbers.subarray(head * headDimension, (head + 1) * headDimension),
  );
}
