import { createHash } from 'node:crypto';
import { SeededRandom } from '../../base/seeded-random.ts';
import type { TokenId, TokenRange } from '../../engine/token-id.ts';

/**
 * A rule that selects tokens of joined blocks to be recomputed. The first block is never selected: when it was computed, it
 * attended to everything before it.
 *
 * `link` selects the first tokens of each block (Infinity: all); LegoLink in EPIC, arXiv 2410.15332. The other rules select a
 * share of the memory tokens, from 0 to 1, at most all tokens after the first block. `first`: from the beginning of each
 * block, evenly over the blocks. `random`: drawn uniformly, the control for the other rules; with `asMany`, as many
 * tokens as that rule selects at the same share. `ranked`: whole blocks, best retrieved first. The rest select the tokens
 * with the highest scores.
 *
 * Tokens are taken in pieces: whole blocks for `ranked`, else runs of `run` tokens (default 1) from the beginning of each
 * block; the last run of a block may be shorter. Selection stops at the first piece that exceeds the share, but a share above
 * 0 selects at least one piece.
 */
export type TokenSelection =
  | { readonly by: 'link'; readonly tokens: number }
  | { readonly by: 'ranked'; readonly share: number }
  | { readonly by: 'first'; readonly share: number; readonly run?: number }
  | { readonly by: 'random'; readonly share: number; readonly run?: number; readonly asMany?: 'ranked' }
  | ScoredSelection;

/**
 * `cacheblend`: tokens whose KV in the second layer deviates most between joined blocks and a full prefill; CacheBlend, arXiv
 * 2405.16444. `cacheblend-oracle`: the same over all layers, which no deployment can know. `informative`: tokens that are least
 * likely given the tokens before them in their block; `ranked-informative`: all from the best retrieved block first, then the
 * next. `query`: tokens that the question attends to most in the middle layer; ProphetKV, arXiv 2602.02579.
 */
export interface ScoredSelection {
  readonly by: TokenScorer;
  readonly share: number;
  readonly run?: number;
}

const tokenScorers = ['cacheblend-oracle', 'cacheblend', 'informative', 'query', 'ranked-informative'] as const;

export type TokenScorer = (typeof tokenScorers)[number];

export interface SelectableBlock {
  readonly tokenIds: ArrayLike<TokenId>;
  /** Retrieval rank of its memory; 0 is the best. */
  readonly rank: number;
}

/**
 * The selected tokens as ranges, counted from the first block's first token. Deterministic; a larger share selects a superset.
 * @param scores of all tokens, needed if `isScored` and `leavesChoice`
 */
export function selectTokensToRecompute(
  selection: TokenSelection,
  blocks: readonly SelectableBlock[],
  scores: ArrayLike<number> = [],
): readonly TokenRange[] {
  let end = 0;
  const spans = blocks.map(({ tokenIds: { length }, rank }) => ({ start: end, end: (end += length), place: 0, rank }));
  const later = spans.slice(1);
  if (selection.by === 'link') {
    const { tokens } = selection;
    return merge(later.map((block) => ({ start: block.start, end: Math.min(block.end, block.start + tokens) })));
  }
  const asMany = selection.by === 'random' && selection.asMany;
  let left = asMany
    ? countTokens(selectTokensToRecompute({ by: asMany, share: selection.share }, blocks))
    : tokenBudget(selection.share, blocks);
  const taken: TokenRange[] = [];
  for (const piece of inOrder(selection, later, blocks, scores)) {
    const tokens = piece.end - piece.start;
    if (left <= 0 || (taken.length > 0 && tokens > left)) break;
    taken.push(piece);
    left -= tokens;
  }
  return merge(taken);
}

export function isScored(selection: TokenSelection): selection is ScoredSelection {
  return tokenScorers.some((scorer) => scorer === selection.by);
}

/** True if the share selects some, but not all, of the selectable tokens. */
export function leavesChoice(share: number, blocks: readonly SelectableBlock[]): boolean {
  const budget = tokenBudget(share, blocks);
  return budget > 0 && budget < countMemoryTokens(blocks.slice(1));
}

/** Neighbouring tokens of one block that are selected together. */
interface Piece extends TokenRange {
  readonly place: number;
  readonly rank: number;
}

/** How many tokens a share of all memory tokens allows; at most those after the first block. */
function tokenBudget(share: number, blocks: readonly SelectableBlock[]): number {
  return Math.min(Math.round(share * countMemoryTokens(blocks)), countMemoryTokens(blocks.slice(1)));
}

function countMemoryTokens(blocks: readonly SelectableBlock[]): number {
  return blocks.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
}

export function countTokens(ranges: readonly TokenRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** All pieces after the first block, in the order in which they are selected. */
function inOrder(
  selection: Exclude<TokenSelection, { by: 'link' }>,
  later: readonly Piece[],
  blocks: readonly SelectableBlock[],
  scores: ArrayLike<number>,
): Piece[] {
  if (selection.by === 'ranked') return later.toSorted((a, b) => a.rank - b.rank);
  const pieces = later.flatMap((block) => split(block, selection.run ?? 1));
  if (selection.by === 'first') return pieces.sort((a, b) => a.place - b.place || a.start - b.start);
  if (selection.by === 'random') {
    // The ids of all blocks decide the order.
    const ids = Int32Array.from(blocks.flatMap(({ tokenIds }) => Array.from(tokenIds)));
    return new SeededRandom(createHash('sha256').update(ids).digest().readInt32LE(0)).shuffled(pieces);
  }
  const blockOrder = ({ rank }: Piece): number => (selection.by === 'ranked-informative' ? rank : 0);
  return pieces
    .map((piece) => ({ piece, score: meanScore(scores, piece) }))
    .sort((a, b) => blockOrder(a.piece) - blockOrder(b.piece) || b.score - a.score || a.piece.start - b.piece.start)
    .map(({ piece }) => piece);
}

function split({ start, end, rank }: Piece, run: number): Piece[] {
  return Array.from({ length: Math.ceil((end - start) / run) }, (_, place) => ({
    start: start + place * run,
    end: Math.min(end, start + (place + 1) * run),
    place,
    rank,
  }));
}

function meanScore(scores: ArrayLike<number>, { start, end }: TokenRange): number {
  let sum = 0;
  for (let at = start; at < end; at++) sum += scores[at]!;
  return sum / (end - start);
}

/** Sorts ranges, drops empty ones and merges touching ones. */
function merge(ranges: readonly TokenRange[]): TokenRange[] {
  const result: TokenRange[] = [];
  for (const range of ranges.filter(({ start, end }) => end > start).sort((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last?.end === range.start) result.splice(-1, 1, { start: last.start, end: range.end });
    else result.push(range);
  }
  return result;
}
