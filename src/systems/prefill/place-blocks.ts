import type { SequenceState } from '../../engine/sequence-state.ts';
import { cutCells } from '../../kv/cut-cells.ts';
import { type BlockPlacement, contiguousPositions, joinBlocks } from '../../kv/join-blocks.ts';
import type { BlockContext } from './gather-blocks.ts';
import type { JoinRecipe } from './join-recipe.ts';
import { cellsOf } from './scale-prefix.ts';

/** Blocks at their final positions, not yet scaled, and the tokens that were evaluated again; until it is disposed. */
export interface PlacedBlocks extends Disposable {
  /** In order of position; a block with recomputed tokens takes two: these, and its rest. */
  readonly placements: readonly BlockPlacement[];
  /** The position of the first cell of each block. */
  readonly positions: readonly number[];
  readonly recomputedTokens: number;
}

/** Gives every block its position, and evaluates its first tokens again where the recipe asks for that. */
export async function placeBlocks(
  { positions: scheme, recomputedTokens }: JoinRecipe,
  context: BlockContext,
  header: SequenceState,
  blocks: readonly SequenceState[],
): Promise<PlacedBlocks> {
  const start = header.positions.length;
  const positions = scheme === 'parallel' ? blocks.map(() => start) : contiguousPositions(blocks, start);
  const placements = blocks.map((block, index): BlockPlacement => ({ block, position: positions[index]!, alpha: 1 }));
  if (recomputedTokens === 0) return { placements, positions, recomputedTokens: 0, [Symbol.dispose]: () => undefined };
  const { beginnings, ...recomputed } = await recompute(context, header, placements, recomputedTokens);
  const dispose = (): void => beginnings.forEach((beginning) => beginning[Symbol.dispose]());
  return { ...recomputed, positions, [Symbol.dispose]: dispose };
}

/**
 * Evaluates the first tokens of each block again behind the header and all blocks before it, which are finished by then,
 * and appends the rest as it was. Engines evaluate only behind the last position, so that each block takes one import.
 * The first block saw all that precedes it when it was built.
 * @see LegoLink in EPIC, arXiv 2410.15332
 */
async function recompute(
  { engine, session, signal }: BlockContext,
  header: SequenceState,
  placements: readonly BlockPlacement[],
  tokensOfEach: number,
): Promise<Pick<PlacedBlocks, 'placements' | 'recomputedTokens'> & { readonly beginnings: readonly SequenceState[] }> {
  const { rotary } = cellsOf(engine);
  const finished = placements.slice(0, 1);
  const beginnings: SequenceState[] = [];
  let recomputedTokens = 0;
  for (const { block, position, alpha } of placements.slice(1)) {
    const length = block.positions.length;
    const wanted = Math.min(tokensOfEach, length);
    const evaluated = Math.min(length, Math.max(engine.capabilities.leastTokens, wanted));
    {
      using before = joinBlocks(header, finished, { rotary });
      await session.importCells(before);
    }
    await session.evaluate([...block.tokenIds.subarray(0, evaluated)], { signal });
    recomputedTokens += evaluated;
    // Contiguous, so that the cell of a position is the cell of that number.
    const beginning = await session.exportCells({ start: position, end: position + wanted });
    beginnings.push(beginning);
    finished.push({ block: beginning, position, alpha });
    if (wanted < length) {
      finished.push({ block: cutCells(block, wanted, length), position: position + wanted, alpha });
    }
  }
  return { placements: finished, recomputedTokens, beginnings };
}
