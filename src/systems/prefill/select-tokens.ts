import { createHash } from 'node:crypto';
import { SeededRandom } from '../../config/seeded-random.ts';
import type { TokenId, TokenRange } from '../../engine/token-id.ts';

/**
 * A rule that selects tokens of joined blocks to be evaluated again. The first block saw all that precedes it when it was
 * built, so that nothing of it is ever selected.
 *
 * `link`: the first tokens of each block, Infinity for all; LegoLink in EPIC, arXiv 2410.15332. The others select a share of
 * the memory tokens, from 0 to 1, as many as there are behind the first block at most. `first`: dealt to the blocks in turn,
 * each from its beginning. `random`: evenly over all tokens, the control of every other rule; `asMany` as another rule
 * selects at that share. `ranked`: whole blocks, the best retrieved first, at least one, while the share lasts. Those that
 * measure take the tokens of the largest scores, which somebody must have found out.
 */
export type TokenSelection = PlainSelection | MeasuredSelection;

type PlainSelection =
  | { readonly by: 'link'; readonly tokens: number }
  | { readonly by: 'first' | 'ranked'; readonly share: number }
  | { readonly by: 'random'; readonly share: number; readonly asMany?: 'ranked' };

/**
 * `cacheblend-oracle` and `cacheblend`: the tokens whose keys and values deviate most between the joined blocks and a full prefill; CacheBlend, arXiv 2405.16444.
 * `cacheblend-oracle`: over all layers, with knowledge that no deployment has; `cacheblend`: in the second layer alone.
 * `informative`: those that what precedes them in their own block makes least likely. `query`: those that the question attends
 * to most in the middle layer; ProphetKV, arXiv 2602.02579. `ranked-informative`: the informative ones of the best retrieved block,
 * then those of the next.
 */
export interface MeasuredSelection {
  readonly by: TokenMeasure;
  readonly share: number;
}

/** Measures of tokens, as arms and records name them. */
export const tokenMeasures = ['cacheblend-oracle', 'cacheblend', 'informative', 'query', 'ranked-informative'] as const;

export type TokenMeasure = (typeof tokenMeasures)[number];

/** A block as a rule sees it. */
export interface SelectableBlock {
  readonly tokenIds: ArrayLike<TokenId>;
  /** Its memory's place among the retrieved, 0 for the best. */
  readonly rank: number;
}

/**
 * The selected tokens as ranges, in order and apart, counted from the first token of the first block. The same blocks get the
 * same tokens; a larger share gets those of a smaller one and more.
 * @param scores of all tokens, in order, where the rule measures them and `leavesChoice`
 */
export function selectTokens(
  selection: TokenSelection,
  blocks: readonly SelectableBlock[],
  scores: ArrayLike<number> = [],
): readonly TokenRange[] {
  const [first, ...later] = spansOf(blocks);
  if (first === undefined) return [];
  switch (selection.by) {
    case 'link':
      return merged(later.map(({ start, end }) => ({ start, end: Math.min(end, start + selection.tokens) })));
    case 'first':
      return dealt(later, budgetOf(selection.share, blocks));
    case 'ranked':
      return merged(rankedSpans(later, budgetOf(selection.share, blocks)));
    case 'random':
      return drawn(first.end, blocks, countOf(selection, blocks));
    case 'ranked-informative':
      return largest(later, budgetOf(selection.share, blocks), scores, ({ rank }) => rank);
    default:
      return largest(later, budgetOf(selection.share, blocks), scores, () => 0);
  }
}

/** True for a rule that measures tokens. */
export function isMeasured(selection: TokenSelection): selection is MeasuredSelection {
  return tokenMeasures.some((measure) => measure === selection.by);
}

/** True where a share takes some of the tokens that may be selected, and not all of them. */
export function leavesChoice(share: number, blocks: readonly SelectableBlock[]): boolean {
  const budget = budgetOf(share, blocks);
  return budget > 0 && budget < blocks.slice(1).reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
}

interface Span extends TokenRange {
  readonly rank: number;
}

function spansOf(blocks: readonly SelectableBlock[]): Span[] {
  let end = 0;
  return blocks.map(({ tokenIds: { length }, rank }) => ({ start: end, end: (end += length), rank }));
}

/** Tokens that a share allows: of all memory tokens, at most those behind the first block. */
function budgetOf(share: number, blocks: readonly SelectableBlock[]): number {
  if (blocks.length === 0) return 0;
  const all = blocks.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  return Math.min(Math.round(share * all), all - blocks[0]!.tokenIds.length);
}

/** One token to each block in turn, from its beginning, until none is left. */
function dealt(spans: readonly Span[], budget: number): TokenRange[] {
  const taken = spans.map(() => 0);
  for (let left = budget; left > 0;) {
    for (const [index, { start, end }] of spans.entries()) {
      if (left === 0 || taken[index] === end - start) continue;
      taken[index]!++;
      left--;
    }
  }
  return merged(spans.map(({ start }, index) => ({ start, end: start + taken[index]! })));
}

/** Whole blocks by rank; the first that does not fit ends it, but one is taken wherever there is a budget. */
function rankedSpans(spans: readonly Span[], budget: number): TokenRange[] {
  const taken: TokenRange[] = [];
  let left = budget;
  for (const span of [...spans].sort((a, b) => a.rank - b.rank)) {
    const tokens = span.end - span.start;
    if (left <= 0 || (taken.length > 0 && tokens > left)) break;
    taken.push(span);
    left -= tokens;
  }
  return taken;
}

/** The tokens of the spans that come first, in one span those of the largest scores, of equal ones the earlier. */
function largest(
  spans: readonly Span[],
  budget: number,
  scores: ArrayLike<number>,
  turnOf: (span: Span) => number,
): TokenRange[] {
  const places = spans.flatMap((span) =>
    Array.from({ length: span.end - span.start }, (_, index) => ({ at: span.start + index, turn: turnOf(span) })),
  );
  const byScore = (a: (typeof places)[number], b: (typeof places)[number]): number =>
    a.turn - b.turn || scores[b.at]! - scores[a.at]! || a.at - b.at;
  const chosen = budget < places.length ? places.sort(byScore).slice(0, budget) : places;
  return merged(chosen.map(({ at }) => ({ start: at, end: at + 1 })));
}

function countOf(
  { share, asMany }: Extract<TokenSelection, { by: 'random' }>,
  blocks: readonly SelectableBlock[],
): number {
  if (asMany === undefined) return budgetOf(share, blocks);
  return selectTokens({ by: asMany, share }, blocks).reduce((sum, { start, end }) => sum + end - start, 0);
}

/** Tokens behind the first block in an order that its ids decide, the first `count` of them. */
function drawn(from: number, blocks: readonly SelectableBlock[], count: number): TokenRange[] {
  const ids = Int32Array.from(blocks.flatMap(({ tokenIds }) => Array.from(tokenIds)));
  const random = new SeededRandom(createHash('sha256').update(ids).digest().readInt32LE(0));
  const places = Array.from({ length: ids.length - from }, (_, index) => from + index);
  return merged(
    random
      .shuffled(places)
      .slice(0, count)
      .map((start) => ({ start, end: start + 1 })),
  );
}

/** In order, neighbours as one range, without empty ones. */
function merged(ranges: readonly TokenRange[]): TokenRange[] {
  const inOrder = ranges.filter(({ start, end }) => end > start).sort((a, b) => a.start - b.start);
  const result: TokenRange[] = [];
  for (const range of inOrder) {
    const last = result.at(-1);
    if (last?.end === range.start) result.splice(-1, 1, { start: last.start, end: range.end });
    else result.push(range);
  }
  return result;
}
