import { createHash } from 'node:crypto';
import { SeededRandom } from '../../base/seeded-random.ts';
import type { TokenId, TokenRange } from '../../engine/token-id.ts';

/**
 * A rule that selects tokens of joined blocks to be evaluated again. The first block saw all that precedes it when it was
 * built, so that nothing of it is ever selected.
 *
 * `link`: the first tokens of each block, Infinity for all; LegoLink in EPIC, arXiv 2410.15332. The others select a share of
 * the memory tokens, from 0 to 1, as many as there are behind the first block at most. `first`: dealt to the blocks in turn,
 * each from its beginning. `random`: evenly over all tokens, the control of every other rule; `asMany` as another rule
 * selects at that share. `ranked`: whole blocks, the best retrieved first. The other rules take the tokens of the highest
 * scores, which the caller provides.
 *
 * Tokens are taken in pieces: whole blocks by `ranked`, else `run` neighbours, counted from the beginning of their block, whose
 * last piece may be shorter. The first piece that the share has no room for ends it, but one is taken wherever there is a share.
 */
export type TokenSelection = PlainSelection | ScoredSelection;

type PlainSelection =
  | { readonly by: 'link'; readonly tokens: number }
  | { readonly by: 'ranked'; readonly share: number }
  | (InRuns & { readonly by: 'first'; readonly share: number })
  | (InRuns & { readonly by: 'random'; readonly share: number; readonly asMany?: 'ranked' });

/** A selection of single tokens, or of runs of so many. */
interface InRuns {
  /** Tokens. Default 1. */
  readonly run?: number;
}

/**
 * `cacheblend-oracle` and `cacheblend`: the tokens whose keys and values deviate most between the joined blocks and a full prefill; CacheBlend, arXiv 2405.16444.
 * `cacheblend-oracle`: over all layers, with knowledge that no deployment has; `cacheblend`: in the second layer alone.
 * `informative`: those that what precedes them in their own block makes least likely. `query`: those that the question attends
 * to most in the middle layer; ProphetKV, arXiv 2602.02579. `ranked-informative`: the informative ones of the best retrieved block,
 * then those of the next.
 */
export interface ScoredSelection extends InRuns {
  readonly by: TokenScorer;
  readonly share: number;
}

/** Scorers of tokens, as arms and records name them. */
export const tokenScorers = ['cacheblend-oracle', 'cacheblend', 'informative', 'query', 'ranked-informative'] as const;

export type TokenScorer = (typeof tokenScorers)[number];

/** A block as a rule sees it. */
export interface SelectableBlock {
  readonly tokenIds: ArrayLike<TokenId>;
  /** Its memory's place among the retrieved, 0 for the best. */
  readonly rank: number;
}

/**
 * The selected tokens as ranges, in order and apart, counted from the first token of the first block. The same blocks get the
 * same tokens; a larger share gets those of a smaller one and more.
 * @param scores of all tokens, in order, where the rule needs them and `leavesChoice`
 */
export function selectTokens(
  selection: TokenSelection,
  blocks: readonly SelectableBlock[],
  scores: ArrayLike<number> = [],
): readonly TokenRange[] {
  const later = blockSpans(blocks).slice(1);
  if (selection.by === 'link') {
    return merge(later.map(({ start, end }) => ({ start, end: Math.min(end, start + selection.tokens) })));
  }
  return merge(takeWhilePiecesFit(inOrder(selection, later, blocks, scores), selectionBudget(selection, blocks)));
}

/** True for a rule that scores tokens. */
export function isScored(selection: TokenSelection): selection is ScoredSelection {
  return tokenScorers.some((measure) => measure === selection.by);
}

/** True where a share takes some of the tokens that may be selected, and not all of them. */
export function leavesChoice(share: number, blocks: readonly SelectableBlock[]): boolean {
  const budget = tokenBudget(share, blocks);
  return budget > 0 && budget < blocks.slice(1).reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
}

/** A selection by a share. */
type SharedSelection = Exclude<TokenSelection, { by: 'link' }>;

/** Neighbours of one block that are taken together. */
interface Piece extends TokenRange {
  /** Pieces of the block before it. */
  readonly place: number;
  /** Of the block. */
  readonly rank: number;
}

function blockSpans(blocks: readonly SelectableBlock[]): Piece[] {
  let end = 0;
  return blocks.map(({ tokenIds: { length }, rank }) => ({ start: end, end: (end += length), place: 0, rank }));
}

/** Tokens that a share allows: of all memory tokens, at most those behind the first block. */
function tokenBudget(share: number, blocks: readonly SelectableBlock[]): number {
  if (blocks.length === 0) return 0;
  const all = blocks.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  return Math.min(Math.round(share * all), all - blocks[0]!.tokenIds.length);
}

function selectionBudget(selection: SharedSelection, blocks: readonly SelectableBlock[]): number {
  const { share } = selection;
  if (selection.by !== 'random' || selection.asMany === undefined) return tokenBudget(share, blocks);
  return selectTokens({ by: selection.asMany, share }, blocks).reduce((sum, { start, end }) => sum + end - start, 0);
}

/** All pieces behind the first block, those to be taken first in front. */
function inOrder(
  selection: SharedSelection,
  later: readonly Piece[],
  blocks: readonly SelectableBlock[],
  scores: ArrayLike<number>,
): Piece[] {
  if (selection.by === 'ranked') return [...later].sort((a, b) => a.rank - b.rank);
  const pieces = later.flatMap((block) => split(block, selection.run ?? 1));
  switch (selection.by) {
    case 'first':
      return pieces.sort((a, b) => a.place - b.place || a.start - b.start);
    case 'random':
      return seededOrder(blocks).shuffled(pieces);
    default: {
      const blockOrder = ({ rank }: Piece): number => (selection.by === 'ranked-informative' ? rank : 0);
      const scored = pieces.map((piece) => ({ piece, score: meanScore(scores, piece) }));
      return scored
        .sort((a, b) => blockOrder(a.piece) - blockOrder(b.piece) || b.score - a.score || a.piece.start - b.piece.start)
        .map(({ piece }) => piece);
    }
  }
}

function split({ start, end, rank }: Piece, run: number): Piece[] {
  return Array.from({ length: Math.ceil((end - start) / run) }, (_, place) => ({
    ...{ start: start + place * run, end: Math.min(end, start + (place + 1) * run) },
    ...{ place, rank },
  }));
}

function meanScore(scores: ArrayLike<number>, { start, end }: TokenRange): number {
  let sum = 0;
  for (let at = start; at < end; at++) sum += scores[at]!;
  return sum / (end - start);
}

/** An order that the ids of all blocks decide. */
function seededOrder(blocks: readonly SelectableBlock[]): SeededRandom {
  const ids = Int32Array.from(blocks.flatMap(({ tokenIds }) => Array.from(tokenIds)));
  return new SeededRandom(createHash('sha256').update(ids).digest().readInt32LE(0));
}

/** Pieces from the front, until one does not fit; one wherever there is a budget. */
function takeWhilePiecesFit(pieces: readonly Piece[], budget: number): TokenRange[] {
  const taken: TokenRange[] = [];
  let left = budget;
  for (const piece of pieces) {
    const tokens = piece.end - piece.start;
    if (left <= 0 || (taken.length > 0 && tokens > left)) break;
    taken.push(piece);
    left -= tokens;
  }
  return taken;
}

/** In order, neighbours as one range, without empty ones. */
function merge(ranges: readonly TokenRange[]): TokenRange[] {
  const inOrder = ranges.filter(({ start, end }) => end > start).sort((a, b) => a.start - b.start);
  const result: TokenRange[] = [];
  for (const range of inOrder) {
    const last = result.at(-1);
    if (last?.end === range.start) result.splice(-1, 1, { start: last.start, end: range.end });
    else result.push(range);
  }
  return result;
}
