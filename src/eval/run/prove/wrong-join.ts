import type { SequenceState } from '../../../engine/sequence-state.ts';
import type { TokenRange } from '../../../engine/token-id.ts';
import { cutCells } from '../../../kv/cut-cells.ts';
import { contiguousPositions } from '../../../kv/join-blocks.ts';
import { kvTools } from '../../../kv/kv-tools.ts';
import { parseRecipe, type RecipeName } from '../../../systems/prefill/join-recipe.ts';
import { isScored } from '../../../systems/prefill/select-tokens.ts';
import type { InjectedParts } from '../observe/injected-parts.ts';
import {
  type CellMaker,
  expectedCells,
  type ExpectedParts,
  precedingLine,
  selectedPositions,
} from './expected-cells.ts';
import { type CellBound, referenceCells, wrongCells } from './reference-cells.ts';
import { wrongSelection } from './wrong-selection.ts';

/** A turn that injected joined blocks. */
export interface JoinedTurn {
  readonly recipe: RecipeName;
  readonly parts: ExpectedParts & Pick<InjectedParts, 'suffix' | 'question'>;
  readonly alpha: number;
  /** The positions that the turn claims to have recomputed. */
  readonly claimed: readonly TokenRange[];
  /** Reads the first cells of the session back. */
  readonly readBack: (count: number) => Promise<SequenceState>;
  /** Evaluating again gives the same bits. */
  readonly isExact: boolean;
}

/**
 * What is wrong with the cells of joined blocks: with the selection of recomputed tokens, with the numbers, or with the laws that
 * hold byte for byte; null if nothing is.
 */
export async function wrongJoin(
  maker: CellMaker,
  { recipe, parts, alpha, claimed, readBack, isExact }: JoinedTurn,
  found: SequenceState,
  bound: CellBound,
): Promise<string | null> {
  const { recompute } = parseRecipe(recipe);
  const measured = recompute !== null && isScored(recompute) ? recompute : undefined;
  const recomputed = measured === undefined ? selectedPositions(recipe, parts) : claimed;
  if (measured !== undefined) {
    const missed = await wrongSelection(maker, measured, { ...parts, recomputed }, bound.deeper);
    if (missed !== null) return missed;
  }
  // An arm recomputes behind unscaled cells, and scales the result: scaled cells cannot be used here.
  const behind = alpha === 1 ? { found: readBack } : {};
  const expected = await expectedCells(maker, recipe, { ...parts, recomputed, ...behind }, alpha);
  const wrong = wrongCells(referenceCells(found), expected, bound);
  const isStoredExactly = (parts.keptAs ?? 'f16') === 'f16';
  if (wrong !== null || recompute === null || !isExact || !isStoredExactly) return wrong;
  return await brokenLaw(maker, { parts, recomputed, alpha }, found);
}

/**
 * The first law of recomputed blocks that cells break. Where cuts are exact, these hold byte for byte: cells that were not
 * recomputed are those of the joined blocks; with everything behind the first block recomputed, unscaled cells are those of the
 * text.
 */
async function brokenLaw(
  maker: CellMaker,
  { parts, recomputed, alpha }: Pick<JoinedTurn, 'parts' | 'alpha'> & { readonly recomputed: readonly TokenRange[] },
  found: SequenceState,
): Promise<string | null> {
  const { header, lines } = parts;
  const isRecomputed = (cell: number): boolean => recomputed.some(({ start, end }) => start <= cell && cell < end);
  using blocks = await joinedBlocks(maker, parts, alpha);
  const changed = differingCell(found, blocks, (cell) => !isRecomputed(cell));
  if (changed !== undefined) {
    return `cell ${changed} was not recomputed, and its bytes are not those of the joined blocks`;
  }
  const first = header.length + (lines[0]?.length ?? 0);
  const isAll = [...found.positions.keys()].slice(first).every(isRecomputed);
  if (!isAll || alpha !== 1) return null;
  const text = await maker.fresh.behind([], [...header, ...lines.flat()], maker.options);
  const other = differingCell(found, text, () => true);
  return other === undefined ? null : `all is recomputed, and the bytes of cell ${other} are not those of the text`;
}

async function joinedBlocks(
  { fresh, cells, options }: CellMaker,
  parts: ExpectedParts,
  alpha: number,
): Promise<SequenceState> {
  const { header, lines } = parts;
  const front = await fresh.behind([], header, options);
  const blocks: SequenceState[] = [];
  for (const [index, line] of lines.entries()) {
    const neighbour = precedingLine(parts, index);
    const block = await fresh.behind(header, [...neighbour, ...line], options);
    blocks.push(cutCells(block, neighbour.length, neighbour.length + line.length));
  }
  const positions = contiguousPositions(blocks, header.length);
  const placements = blocks.map((block, index) => ({ block, position: positions[index]!, alpha }));
  return kvTools.join(front, placements, { rotary: cells.rotary });
}

/** The first of the compared cells whose keys or values have other bytes. */
function differingCell(a: SequenceState, b: SequenceState, isCompared: (cell: number) => boolean): number | undefined {
  const bytes = (state: SequenceState, cell: number): Buffer => {
    const { keys, values } = cutCells(state, cell, cell + 1);
    return Buffer.concat([...keys, ...values]);
  };
  return [...a.positions.keys()].filter(isCompared).find((cell) => !bytes(a, cell).equals(bytes(b, cell)));
}
