import type { SequenceState } from '../../engine/sequence-state.ts';
import type { TokenRange } from '../../engine/token-id.ts';
import type { BlockPlacement, JoinOptions } from '../../kv/join-blocks.ts';
import type { Selector } from '../../store/records/turn-record.ts';
import type { BlockContext } from './gather-blocks.ts';
import type { JoinRecipe } from './join-recipe.ts';
import type { PromptSuffix } from './question-attention.ts';
import { type JoinedBlocks, reevaluate, scoreTokensToRecompute } from './score-tokens-to-recompute.ts';
import { requireCells } from '../../engine/engine-capabilities.ts';
import { isScored, leavesChoice, selectTokensToRecompute, type TokenSelection } from './select-tokens-to-recompute.ts';

export interface RankedBlock {
  readonly state: SequenceState;
  /** Position of its first token when it was computed, even if that token was evicted. */
  readonly start: number;
  readonly rank: number;
}

/** Blocks to join, and what they are joined with. */
export interface UnplacedBlocks extends Pick<JoinOptions, 'rotated'> {
  readonly header: SequenceState;
  /** Sink tokens to place before each block; null for none. */
  readonly sink: SequenceState | null;
  readonly blocks: readonly RankedBlock[];
  /** Multiplies the values of the blocks. Applied last, so that recomputed tokens attend to unscaled values. */
  readonly alpha: number;
  /** The rest of the prompt, since a rule may select tokens by the question. */
  readonly rest: PromptSuffix;
}

export interface PlacedBlocks extends Disposable {
  readonly state: SequenceState;
  /** Position of the first token of each block, even if that token was evicted. */
  readonly positions: readonly number[];
  /** Ranges of recomputed positions, ascending, not touching each other. */
  readonly recomputed: readonly TokenRange[];
  /** Tokens evaluated to recompute them. More than the ranges hold if the engine has a larger minimum batch. */
  readonly recomputedTokens: number;
  readonly recomputeMs: number;
  /** What selecting them cost; null if nothing was evaluated for it. */
  readonly selector: Selector | null;
}

/** Joins blocks at their positions and recomputes the tokens that the recipe selects. */
export async function joinAndRecompute(
  { positions: scheme, recompute, temperature = 1 }: JoinRecipe,
  context: BlockContext,
  { header, sink, blocks, alpha, rest, ...rotated }: UnplacedBlocks,
): Promise<PlacedBlocks> {
  const { kv } = context;
  const { rotary } = requireCells(context.engine);
  const start = header.positions.length;
  const states = blocks.map(({ state }) => state);
  const front = sink?.positions.length ?? 0;
  const starts = scheme === 'parallel' ? states.map(() => start) : contiguousStarts(blocks, start);
  const positions = starts.map((own, index) => own + front * (scheme === 'parallel' ? 1 : index + 1));
  const joinAlpha = recompute === null ? alpha : 1;
  const placements = states.flatMap((block, index): BlockPlacement[] => {
    const first = positions[index]!;
    // If the first tokens were evicted, the block's first cell belongs to a later token.
    const position = first + block.positions[0]! - blocks[index]!.start;
    const own = { block, position, alpha: joinAlpha, temperature };
    return sink === null ? [own] : [{ block: sink, position: first - front, alpha: 1 }, own];
  });
  const joined = kv.join(header, placements, { rotary, ...rotated });
  try {
    const inOne = { state: joined, header, blocks: states, rest };
    const { ranges, selector } = await selectRanges(recompute, context, inOne, blocks);
    const recomputed = ranges.map((range) => ({ start: start + range.start, end: start + range.end }));
    const begin = performance.now();
    let recomputedTokens = 0;
    // An engine can only append, so each range imports the cells before it, which are final by then.
    for (const range of recomputed) {
      using again = await reevaluate(context, joined, range);
      kv.replace(joined, again.cells, range.start);
      recomputedTokens += again.evaluatedTokens;
    }
    const recomputeMs = recomputed.length === 0 ? 0 : performance.now() - begin;
    let state = joined;
    if (alpha !== joinAlpha) {
      const memories = kv.cut(joined, start, joined.positions.length);
      state = kv.join(header, [{ block: memories, position: start, alpha }], { rotary });
    }
    const dispose = (): void => [joined, state].forEach((cells) => cells[Symbol.dispose]());
    return { state, positions, recomputed, recomputedTokens, recomputeMs, selector, [Symbol.dispose]: dispose };
  } catch (error) {
    joined[Symbol.dispose]();
    throw error;
  }
}

/** First positions of contiguous blocks. A block takes the positions of all its tokens, including evicted ones. */
function contiguousStarts(blocks: readonly RankedBlock[], header: number): number[] {
  let next = header;
  return blocks.map(({ state: { positions }, start }) => {
    const tokens = positions.at(-1)! + 1 - start;
    next += tokens;
    return next - tokens;
  });
}

async function selectRanges(
  recompute: TokenSelection | null,
  context: BlockContext,
  joined: JoinedBlocks,
  blocks: readonly RankedBlock[],
): Promise<{ readonly ranges: readonly TokenRange[]; readonly selector: Selector | null }> {
  if (recompute === null) return { ranges: [], selector: null };
  const selectable = blocks.map(({ state: { tokenIds }, rank }) => ({ tokenIds, rank }));
  if (!isScored(recompute) || !leavesChoice(recompute.share, selectable)) {
    return { ranges: selectTokensToRecompute(recompute, selectable), selector: null };
  }
  const { scores, selector } = await scoreTokensToRecompute(recompute.by, context, joined);
  return { ranges: selectTokensToRecompute(recompute, selectable, scores), selector };
}
