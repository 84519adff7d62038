import type { Rotary } from '../../engine/rotary.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import type { TokenRange } from '../../engine/token-id.ts';
import { type BlockPlacement, contiguousPositions, type JoinOptions } from '../../kv/join-blocks.ts';
import type { KvTools } from '../../kv/kv-tools.ts';
import { replaceCells } from '../../kv/replace-cells.ts';
import type { BlockContext } from './gather-blocks.ts';
import type { JoinRecipe } from './join-recipe.ts';
import { cellsOf } from './scale-prefix.ts';
import { selectTokens } from './select-tokens.ts';

/** A block and the place of its memory among the retrieved, 0 for the best. */
export interface RankedBlock {
  readonly state: SequenceState;
  readonly rank: number;
}

/** Settings of a placement. */
export interface PlaceOptions extends Pick<JoinOptions, 'rotated'> {
  /** Multiplies the values of the blocks, last of all: recomputed tokens saw their predecessors unscaled. */
  readonly alpha: number;
}

/** Header and blocks as one sequence; until it is disposed of. */
export interface PlacedBlocks extends Disposable {
  readonly state: SequenceState;
  /** The position of the first cell of each block. */
  readonly positions: readonly number[];
  /** Positions whose cells were computed anew, in order and apart. */
  readonly recomputed: readonly TokenRange[];
  /** Evaluated for them: more where the engine takes no fewer at once than there are in a range. */
  readonly recomputedTokens: number;
  readonly recomputeMs: number;
}

/** Gives every block its position, and evaluates the tokens again that the recipe selects. */
export async function placeBlocks(
  { positions: scheme, recompute }: JoinRecipe,
  context: BlockContext,
  header: SequenceState,
  blocks: readonly RankedBlock[],
  { alpha, ...rotated }: PlaceOptions,
): Promise<PlacedBlocks> {
  const { rotary } = cellsOf(context.engine);
  const start = header.positions.length;
  const states = blocks.map(({ state }) => state);
  const positions = scheme === 'parallel' ? states.map(() => start) : contiguousPositions(states, start);
  const selected = recompute === null ? [] : selectTokens(recompute, blocks.map(selectable));
  const recomputed = selected.map((range) => ({ start: start + range.start, end: start + range.end }));
  const joinAlpha = recomputed.length === 0 ? alpha : 1;
  const placements = states.map((block, index) => ({ block, position: positions[index]!, alpha: joinAlpha }));
  const { kv } = context;
  const joined = kv.join(header, placements, { rotary, ...rotated });
  try {
    const begin = performance.now();
    const recomputedTokens = await recomputeCells(context, joined, recomputed);
    const recomputeMs = recomputed.length === 0 ? 0 : performance.now() - begin;
    const state = alpha === joinAlpha ? joined : scaled(joined, header, alpha, rotary, kv);
    const dispose = (): void => [joined, state].forEach((taken) => taken[Symbol.dispose]());
    return { state, positions, recomputed, recomputedTokens, recomputeMs, [Symbol.dispose]: dispose };
  } catch (error) {
    joined[Symbol.dispose]();
    throw error;
  }
}

function selectable({ state: { tokenIds }, rank }: RankedBlock): { tokenIds: Int32Array; rank: number } {
  return { tokenIds, rank };
}

/**
 * Evaluates ranges of positions again, each behind all cells before it, which are final by then, and writes the new cells
 * over the old ones. Engines evaluate only behind the last position, so that each range takes one import. Where a range is
 * shorter than an engine evaluates at once, tokens behind it are evaluated too, and not kept.
 * @param joined contiguous, so that the cell of a position is the cell of that number
 * @returns the tokens that were evaluated
 */
async function recomputeCells(
  { engine, session, signal, kv }: BlockContext,
  joined: SequenceState,
  ranges: readonly TokenRange[],
): Promise<number> {
  const { leastTokens } = engine.capabilities;
  let evaluated = 0;
  for (const { start, end } of ranges) {
    const ids = [...joined.tokenIds.subarray(start, Math.max(end, start + leastTokens))];
    // What stands behind a token does not change it.
    while (ids.length < leastTokens) ids.push(ids.at(-1)!);
    await session.importCells(kv.cut(joined, 0, start));
    await session.evaluate(ids, { signal });
    evaluated += ids.length;
    using computed = await session.exportCells({ start, end });
    replaceCells(joined, computed, start);
  }
  return evaluated;
}

function scaled(
  joined: SequenceState,
  header: SequenceState,
  alpha: number,
  rotary: Rotary,
  kv: Pick<KvTools, 'cut' | 'join'>,
): SequenceState {
  const start = header.positions.length;
  const memories: BlockPlacement = { block: kv.cut(joined, start, joined.positions.length), position: start, alpha };
  return kv.join(header, [memories], { rotary });
}
