import { mean, rootMeanSquare } from 'simple-statistics';
import { batches } from '../../../base/batches.ts';
import { norm, innerProduct } from '../../../base/inner-product.ts';
import type { TokenRange } from '../../../engine/token-id.ts';
import type { ScoredSelection, TokenSelection } from '../../../systems/prefill/select-tokens-to-recompute.ts';
import type { InjectedParts } from '../observe/expected-injection.ts';
import { type CellMaker, expectedCells, type ExpectedParts } from './expected-cells.ts';
import { type Float64Cell, float64Cells, toState } from './float64-cells.ts';

/** Tokens scored per call: an engine may return a whole distribution for each. */
const SCORED_AT_ONCE = 10;
/** Bound on the change of ln p, in multiples of the rounding error of cells. */
const NATS = 8;
/** Exceeds −ln p of any token, so that ranks decide first. */
const RANK_APART = 1e6;

type ScoredParts = ExpectedParts & Pick<InjectedParts, 'suffix' | 'question'>;

/** Scores of tokens by position. Those of the header and the first memory are ignored: no rule may select them to be recomputed. */
interface TokenScores {
  readonly scores: readonly number[];
  /** Scores that differ by no more than this may be in either order. */
  readonly tolerance: number;
  /** Score of a run of neighbouring tokens, from their scores. Default: the mean. */
  readonly runScore?: (scores: readonly number[]) => number;
}

type Scorer = (maker: CellMaker, parts: ScoredParts, rounding: number) => Promise<TokenScores>;

/** Scores tokens by each rule, with code that arms do not use. */
const scorers: Readonly<Record<ScoredSelection['by'], Scorer>> = {
  'cacheblend-oracle': (...given) => deviations(0, Infinity, ...given),
  // Computed on the whole model. The arm used its first layers alone, which must give the same.
  cacheblend: (...given) => deviations(1, 2, ...given),
  informative: surprises,
  'ranked-informative': surprisesByRank,
  query: async (maker, { header, lines, making, keptAs, ...rest }, rounding) => {
    const joined = await expectedCells(maker, 'blocks', { header, lines, making, keptAs }, 1);
    return questionAttention(maker, joined, { ...rest, headerTokens: header.length }, rounding);
  },
};

/** Describes why recomputed positions lack the largest scores; null if they have them. @param rounding relative error */
export async function wrongSelection(
  maker: CellMaker,
  { by, share, run = 1 }: ScoredSelection,
  parts: ScoredParts & { readonly recomputed: readonly TokenRange[] },
  rounding: number,
): Promise<string | null> {
  const { header, lines, recomputed } = parts;
  const begin = header.length + (lines[0]?.length ?? 0);
  const end = header.length + lines.flat().length;
  const budget = tokensOfShare(share, lines);
  const selected = positionsIn(recomputed);
  const outside = [...selected].find((position) => position < begin || position >= end);
  if (outside !== undefined) return `position ${outside} was recomputed, which no rule may select`;
  const runs = positionRuns(lines, run, begin);
  const cut = runs.find((positions) => positions.some((at) => selected.has(at) !== selected.has(positions[0]!)));
  if (cut !== undefined) return `only a part of the run at position ${cut[0]} was selected`;
  const miscounted = wrongCount(selected.size, budget, run);
  if (miscounted !== null) return miscounted;
  if (budget === 0 || budget === end - begin) return null;
  const missed = missedRun(runs, selected, await scorers[by](maker, parts, rounding));
  if (missed === null) return null;
  const [score, least] = [missed.score.toFixed(3), missed.least.toFixed(3)];
  return `position ${missed.position} was not selected, and scores ${score}; a selected one scores ${least}`;
}

/** Tokens to recompute for a share of all memory tokens. The first line is never recomputed. */
function tokensOfShare(share: number, lines: ExpectedParts['lines']): number {
  const [first = [], ...others] = lines;
  const selectable = others.reduce((sum, { length }) => sum + length, 0);
  return Math.min(selectable, Math.round((first.length + selectable) * share));
}

/** Describes a wrong number of selected tokens, taken in runs of `run`; null if it is right. */
function wrongCount(tokens: number, budget: number, run: number): string | null {
  const [fewest, most] = budget > 0 ? [Math.max(1, budget - run + 1), Math.max(budget, run)] : [0, 0];
  return tokens < fewest || tokens > most ? `${tokens} tokens were selected in place of ${budget}` : null;
}

export function countPositions(ranges: readonly TokenRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** Describes a wrong number of recomputed tokens for a rule's share; null if it is right. */
export function wrongShare(
  selection: TokenSelection,
  { lines }: Pick<ExpectedParts, 'lines'>,
  recomputed: readonly TokenRange[],
): string | null {
  const selected = countPositions(recomputed);
  if (selection.by === 'link') {
    const due = lines.slice(1).reduce((sum, { length }) => sum + Math.min(length, selection.tokens), 0);
    return wrongCount(selected, due, 1);
  }
  const budget = tokensOfShare(selection.share, lines);
  const isWhole = selection.by === 'ranked' || (selection.by === 'random' && selection.asMany !== undefined);
  // Rules for whole blocks leave out the block that exceeds the budget, unless it is the first.
  const longest = Math.max(0, ...lines.slice(1).map(({ length }) => length));
  return wrongCount(selected, budget, isWhole ? longest : 'run' in selection ? (selection.run ?? 1) : 1);
}

/** The first run left out that scores more than a selected one, beyond the tolerance. */
export function missedRun(
  runs: readonly (readonly number[])[],
  selected: ReadonlySet<number>,
  { scores, tolerance, runScore = mean }: TokenScores,
): { readonly position: number; readonly score: number; readonly least: number } | null {
  const score = (positions: readonly number[]): number => runScore(positions.map((position) => scores[position]!));
  const isSelected = ([position]: readonly number[]): boolean => selected.has(position!);
  const least = Math.min(...runs.filter(isSelected).map(score));
  const missed = runs.find((positions) => !isSelected(positions) && score(positions) > least + tolerance);
  return missed === undefined ? null : { position: missed[0]!, score: score(missed), least };
}

/** The positions behind the first line, in runs of `run` neighbours; the last run of a line may be shorter. */
function positionRuns(lines: ExpectedParts['lines'], run: number, begin: number): number[][] {
  let position = begin;
  const positions = lines.slice(1).map((line) => line.map(() => position++));
  return positions.flatMap((own) => batches(own, run));
}

function positionsIn(ranges: readonly TokenRange[]): ReadonlySet<number> {
  return new Set(ranges.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, index) => start + index)));
}

/** Distances between the cells of joined blocks and those of the text, in these layers. */
async function deviations(
  fromLayer: number,
  toLayer: number,
  ...[maker, { header, lines, making, keptAs }, rounding]: Parameters<Scorer>
): Promise<TokenScores> {
  const text = await expectedCells(maker, 'prefix', { header, lines }, 1);
  const joined = await expectedCells(maker, 'blocks', { header, lines, making, keptAs }, 1);
  const numbers = ({ keys, values }: Float64Cell): Float64Array =>
    Float64Array.from([keys, values].flatMap((all) => all.slice(fromLayer, toLayer).flatMap((layer) => [...layer])));
  const others = text.map(numbers);
  const own = joined.map(numbers);
  const scores = own.map((all, cell) =>
    cell < header.length ? 0 : norm(all.map((number, at) => number - others[cell]![at]!)),
  );
  // Arms rank runs by mean square. The root gives the same order, with an error no larger than the distances'.
  return { scores, tolerance: 2 * rounding * Math.max(...own.map(norm)), runScore: rootMeanSquare };
}

/** −ln p of each token of a line, behind the header and the tokens before it in the line. */
async function surprises({ fresh, options }: CellMaker, { header, lines }: ExpectedParts, rounding: number) {
  const scores = header.map(() => 0);
  const session = fresh.use();
  for (const line of lines) {
    for (let at = 0; at < line.length; at += SCORED_AT_ONCE) {
      await session.clear(options);
      const front = [...header, ...line.slice(0, at)];
      const { logProbabilities } = await session.score(front, line.slice(at, at + SCORED_AT_ONCE), options);
      scores.push(...logProbabilities.map((logProbability) => -logProbability));
    }
  }
  return { scores, tolerance: NATS * rounding };
}

/** Like `surprises`, but every token of a better-ranked block comes before all tokens of a worse one. */
async function surprisesByRank(maker: CellMaker, parts: ExpectedParts, rounding: number): Promise<TokenScores> {
  const { scores, tolerance } = await surprises(maker, parts, rounding);
  const { header, lines, ranks } = parts;
  const ranked = lines.flatMap((line, index) => line.map(() => ranks?.[index] ?? index));
  return { scores: scores.map((score, at) => score - RANK_APART * (ranked[at - header.length] ?? 0)), tolerance };
}

/**
 * ln of the question's attention to each memory token in the middle layer, averaged over question tokens and heads.
 * @param joined header and memories, contiguous
 */
export async function questionAttention(
  maker: CellMaker,
  joined: readonly Float64Cell[],
  { headerTokens, suffix, question }: Pick<InjectedParts, 'suffix' | 'question'> & { readonly headerTokens: number },
  rounding: number,
): Promise<TokenScores> {
  const { options } = maker;
  const middle = Math.floor(maker.cells.layout.layers / 2);
  const part = await maker.engine.firstLayers(middle + 1, { ...options, queries: true });
  const { layout } = part.capabilities.cells!;
  await using session = await part.openSession('proof of a selection', options);
  const repeated = joined.map((cell) => withQueryHeads(cell, layout.headDimension, layout.heads));
  await session.importCells(toState(repeated, layout), options);
  await session.evaluate(suffix.slice(0, Math.max(question.end, maker.leastTokens)), options);
  const range = { start: joined.length + question.start, end: joined.length + question.end };
  using state = await session.exportCells(range, options);
  const queries = float64Cells(state).flatMap(({ keys }) => heads(keys[middle]!, layout.headDimension));
  const keys = repeated.map((cell) => heads(cell.keys[middle]!, layout.headDimension));
  const root = Math.sqrt(layout.headDimension);
  const attention = joined.map(() => 0);
  for (const [at, query] of queries.entries()) {
    const logits = keys.map((own, cell) =>
      cell < headerTokens ? -Infinity : innerProduct(query, own[at % layout.heads]!) / root,
    );
    const largest = Math.max(...logits);
    const powers = logits.map((logit) => Math.exp(logit - largest));
    const total = powers.reduce((sum, power) => sum + power, 0);
    powers.forEach((power, cell) => (attention[cell]! += power / total / queries.length));
  }
  const longest = (vectors: readonly Float64Array[]): number => Math.max(...vectors.map(norm));
  return {
    scores: attention.map((share) => Math.log(share)),
    // Factors of 2: two vectors are rounded, a softmax doubles the error of its logits, and two scores are compared.
    tolerance: (2 * 2 * 2 * rounding * longest(queries) * longest(keys.flat())) / root,
    runScore: (logarithms) => Math.log(mean(logarithms.map(Math.exp))),
  };
}

/** A cell with each KV head repeated for every query head that shares it. */
function withQueryHeads(cell: Float64Cell, headDimension: number, count: number): Float64Cell {
  const repeated = (numbers: Float64Array): Float64Array => {
    const own = heads(numbers, headDimension);
    const all = Array.from({ length: count }, (_, head) => own[Math.floor((head * own.length) / count)]!);
    return Float64Array.from(all.flatMap((head) => [...head]));
  };
  return { ...cell, keys: cell.keys.map(repeated), values: cell.values.map(repeated) };
}

function heads(numbers: Float64Array, headDimension: number): Float64Array[] {
  return Array.from({ length: numbers.length / headDimension }, (_, head) =>
    numbers.subarray(head * headDimension, (head + 1) * headDimension),
  );
}
