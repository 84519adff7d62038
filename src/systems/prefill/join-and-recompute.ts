import type { SequenceState } from '../../engine/sequence-state.ts';
import type { TokenRange } from '../../engine/token-id.ts';
import type { BlockPlacement, JoinOptions } from '../../kv/join-blocks.ts';
import type { Selector } from '../../store/records/turn-record.ts';
import type { BlockContext } from './gather-blocks.ts';
import type { JoinRecipe } from './join-recipe.ts';
import {
  type JoinedBlocks,
  type PromptSuffix,
  reevaluate,
  scoreTokensToRecompute,
} from './score-tokens-to-recompute.ts';
import { requireCells } from '../../engine/engine-capabilities.ts';
import { isScored, leavesChoice, selectTokensToRecompute, type TokenSelection } from './select-tokens-to-recompute.ts';

export interface RankedBlock {
  readonly state: SequenceState;
  /** The position at which its first token was built, evicted or not. */
  readonly start: number;
  readonly rank: number;
}

export interface UnplacedBlocks extends Pick<JoinOptions, 'rotated'> {
  readonly header: SequenceState;
  /** Cells of no memory in front of each block; null for none. */
  readonly sink: SequenceState | null;
  readonly blocks: readonly RankedBlock[];
  /** Multiplies the values of the blocks, last of all: recomputed tokens attended to unscaled values. */
  readonly alpha: number;
  /** The rest of the prompt behind the blocks: a rule may select by the question. */
  readonly rest: PromptSuffix;
}

export interface PlacedBlocks extends Disposable {
  readonly state: SequenceState;
  /** The position of the first token of each block, evicted or not. */
  readonly positions: readonly number[];
  /** Positions whose cells were computed anew, in order and apart. */
  readonly recomputed: readonly TokenRange[];
  /** Evaluated for them: more where the engine takes no fewer at once than there are in a range. */
  readonly recomputedTokens: number;
  readonly recomputeMs: number;
  /** Null where nothing was evaluated to select them. */
  readonly selector: Selector | null;
}

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
    // The first cell of a block may be that of a later token.
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
    // Engines evaluate only behind the last position, so that each range takes one import; the cells before it are final.
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

/** The first positions of contiguous blocks. Each takes the positions of all its tokens, including evicted ones. */
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
