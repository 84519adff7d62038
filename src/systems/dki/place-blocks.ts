import { cutBlock } from '../../kv/cut-block.ts';
import { type BlockPlacement, contiguousPositions, joinBlocks } from '../../kv/join-blocks.ts';
import type { KvCells } from '../../kv/sequence-state.ts';
import type { BlockWorkshop } from './gather-blocks.ts';
import type { JoinedMode } from './injection-mode.ts';

/** llama.cpp evaluates a single token by another path, whose bits differ. */
const LEAST_EVALUATED = 2;

/** Blocks at their final positions, not yet scaled, and the tokens that were evaluated again to link them. */
export interface PlacedBlocks {
  /** In order of position; a linked block takes two, its linked beginning and its rest. */
  readonly placements: readonly BlockPlacement[];
  /** The position of the first cell of each block. */
  readonly positions: readonly number[];
  readonly linkTokens: number;
}

/** Gives every block its position, and links it to what precedes it where the mode asks for that. */
export async function placeBlocks(
  mode: JoinedMode,
  workshop: BlockWorkshop,
  header: KvCells,
  blocks: readonly KvCells[],
): Promise<PlacedBlocks> {
  const start = header.positions.length;
  const positions = mode === 'parallel' ? blocks.map(() => start) : contiguousPositions(blocks, start);
  const placements = blocks.map((block, index): BlockPlacement => ({ block, position: positions[index]!, alpha: 1 }));
  if (typeof mode === 'string' || mode.link === 0) return { placements, positions, linkTokens: 0 };
  return { ...(await linkBlocks(workshop, header, placements, mode.link)), positions };
}

/**
 * Evaluates the first tokens of each block again behind the header and all blocks before it, which are finished by then,
 * and appends the rest as it was. llama.cpp evaluates only behind the last position, so that each block takes a load.
 * The first block saw all that precedes it when it was built.
 * @see LegoLink in EPIC, arXiv 2410.15332
 */
async function linkBlocks(
  { info, sequence, scratch }: BlockWorkshop,
  header: KvCells,
  placements: readonly BlockPlacement[],
  tokensOfEach: number,
): Promise<Pick<PlacedBlocks, 'placements' | 'linkTokens'>> {
  const finished = placements.slice(0, 1);
  let linkTokens = 0;
  for (const { block, position, alpha } of placements.slice(1)) {
    const length = block.positions.length;
    const linked = Math.min(tokensOfEach, length);
    const evaluated = Math.min(length, Math.max(LEAST_EVALUATED, linked));
    scratch.write(joinBlocks(header, finished, { keys: info, sequences: info.contextOptions.sequences }));
    await scratch.load(sequence);
    await sequence.evaluate([...block.tokenIds.subarray(0, evaluated)]);
    linkTokens += evaluated;
    // Contiguous, so that the cell of a position is the cell of that number.
    const beginning = cutBlock(await scratch.cellsOf(sequence), position, position + linked);
    finished.push({ block: beginning, position, alpha });
    if (linked < length) {
      finished.push({ block: cutBlock(block, linked, length), position: position + linked, alpha });
    }
  }
  return { placements: finished, linkTokens };
}
