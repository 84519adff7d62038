import type { EngineSession } from '../../../engine/engine-session.ts';
import type { SequenceState } from '../../../engine/sequence-state.ts';
import type { TokenRange } from '../../../engine/token-id.ts';
import { cutCells } from '../../../kv/cut-cells.ts';
import { contiguousPositions } from '../../../kv/join-blocks.ts';
import { kvOperations } from '../../../kv/kv-operations.ts';
import type { PrefillName } from '../../../store/records/arm-traits.ts';
import type { EvictionName, PrefillRecord } from '../../../store/records/prefill-record.ts';
import { parseRecipe, type RecipeName } from '../../../systems/prefill/join-recipe.ts';
import { isScored, type TokenSelection } from '../../../systems/prefill/select-tokens-to-recompute.ts';
import type { InjectedParts } from '../observe/expected-injection.ts';
import {
  type CellMaker,
  expectedCells,
  type ExpectedParts,
  memoryCells,
  precedingLine,
  selectedPositions,
} from './expected-cells.ts';
import { type CellBound, float64Cells, wrongCells } from './float64-cells.ts';
import { cellsLeft, type PromptRest, wrongEviction } from './evicted-tokens-proof.ts';
import { countPositions, wrongSelection, wrongShare } from './recomputed-tokens-proof.ts';

export interface InjectedTurn {
  readonly prefill: PrefillName;
  readonly evict: EvictionName | undefined;
  readonly repaired: ReadonlySet<number> | undefined;
  readonly askedFor: readonly (PromptRest | undefined)[];
  readonly session: EngineSession;
  readonly parts: InjectedParts & ExpectedParts;
  readonly alpha: number;
  /** Injected tokens of an exact prefix. Those behind its last exact cut were evaluated with the suffix. */
  readonly exactTokens: number | undefined;
  readonly record: PrefillRecord | null;
  /** Selected tokens by the turn's account; undefined if it selected none. */
  readonly selected: number | undefined;
  readonly bound: CellBound;
  /** True if evaluating again gives the same bits. */
  readonly isExact: boolean;
}

/** Describes what is wrong with the injected cells of a turn; null if nothing is. */
export async function wrongInjection(maker: CellMaker, turn: InjectedTurn): Promise<string | null> {
  const { prefill, evict, session, parts, alpha, bound } = turn;
  if (evict !== undefined) return await wrongEvictedTurn(maker, turn, evict);
  const count = turn.exactTokens ?? memoryCells(parts).length;
  if (session.cells < count) return `${session.cells} cells in place of ${count}`;
  using found = await session.exportCells({ start: 0, end: count }, maker.options);
  if (prefill !== 'prefix') return await wrongJoin(maker, turn, prefill, found);
  const expected = await expectedCells(maker, 'prefix', parts, alpha);
  return wrongCells(float64Cells(found), expected.slice(0, count), bound);
}

async function wrongEvictedTurn(
  maker: CellMaker,
  { prefill: name, session, parts, alpha, bound, isExact, repaired, askedFor }: InjectedTurn,
  evict: EvictionName,
): Promise<string | null> {
  const evicted = {
    ...parts,
    prefill: name === 'prefix' ? name : ('blocks' as const),
    evict,
    alpha,
    repaired,
    askedFor,
  };
  const count = cellsLeft(evicted);
  // Behind the memories, each token has one cell.
  const behind = session.tokens.length - parts.header.length - parts.lines.flat().length;
  const cells = session.cells < count ? session.cells : session.cells - behind;
  if (cells !== count) return `${cells} cells in place of ${count}`;
  using found = await session.exportCells({ start: 0, end: count }, maker.options);
  return await wrongEviction(maker, evicted, float64Cells(found), { ...bound, rounding: isExact ? 0 : bound.deeper });
}

/** Checks joined blocks: the recomputed positions, then the numbers, then the equality of bytes. */
async function wrongJoin(
  maker: CellMaker,
  { session, parts, alpha, record, selected, bound, isExact }: InjectedTurn,
  recipe: RecipeName,
  found: SequenceState,
): Promise<string | null> {
  const { recompute } = parseRecipe(recipe);
  // Scored rules: the positions that the turn reports, to be checked. Other rules: positions are known.
  const claimed = record !== null && 'recomputed' in record ? record.recomputed : [];
  const isClaimed = recompute !== null && isScored(recompute);
  const recomputed = isClaimed ? claimed : selectedPositions(recipe, parts);
  const missed = await wrongTokens(maker, recompute, { ...parts, recomputed, selected }, bound.deeper);
  if (missed !== null) return missed;
  const readBack = (end: number) => session.exportCells({ start: 0, end }, maker.options);
  // Arms recompute behind unscaled cells and then scale them, so that the turn's scaled cells cannot be used.
  const behind = alpha === 1 ? { found: readBack } : {};
  const expected = await expectedCells(maker, recipe, { ...parts, recomputed, ...behind }, alpha);
  const wrong = wrongCells(float64Cells(found), expected, bound);
  const isStoredExactly = (parts.keptAs ?? 'f16') === 'f16';
  if (wrong !== null || recompute === null || !isExact || !isStoredExactly) return wrong;
  return await differentBytes(maker, { ...parts, recomputed }, alpha, found);
}

async function wrongTokens(
  maker: CellMaker,
  recompute: TokenSelection | null,
  parts: InjectedTurn['parts'] & Pick<InjectedTurn, 'selected'> & { readonly recomputed: readonly TokenRange[] },
  rounding: number,
): Promise<string | null> {
  if (recompute === null) return null;
  const { recomputed, selected } = parts;
  const miscounted = wrongShare(recompute, parts, recomputed);
  const missed = miscounted ?? (isScored(recompute) ? await wrongSelection(maker, recompute, parts, rounding) : null);
  if (missed !== null || selected === undefined) return missed;
  const count = countPositions(recomputed);
  return selected === count ? null : `${count} tokens were selected, not ${selected} as accounted`;
}

/** Compares bytes: cells that were not recomputed must equal joined blocks; if all were, they must equal text. */
async function differentBytes(
  maker: CellMaker,
  parts: ExpectedParts & { readonly recomputed: readonly TokenRange[] },
  alpha: number,
  found: SequenceState,
): Promise<string | null> {
  const { header, lines, recomputed } = parts;
  const isRecomputed = (cell: number): boolean => recomputed.some(({ start, end }) => start <= cell && cell < end);
  using blocks = await joinedBlocks(maker, parts, alpha);
  const cells = [...found.positions.keys()];
  const changed = cells.find((cell) => !isRecomputed(cell) && !haveSameBytes(found, blocks, cell));
  if (changed !== undefined) {
    return `cell ${changed} was not recomputed, but its bytes differ from the joined blocks`;
  }
  const first = header.length + (lines[0]?.length ?? 0);
  if (alpha !== 1 || !cells.slice(first).every(isRecomputed)) return null;
  const text = await maker.fresh.behind([], [...header, ...lines.flat()], maker.options);
  const other = cells.find((cell) => !haveSameBytes(found, text, cell));
  return other === undefined ? null : `all tokens were recomputed, but the bytes of cell ${other} differ from text`;
}

async function joinedBlocks({ fresh, cells, options }: CellMaker, parts: ExpectedParts, alpha: number) {
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
  return kvOperations.join(front, placements, { rotary: cells.rotary });
}

function haveSameBytes(a: SequenceState, b: SequenceState, cell: number): boolean {
  const [own, other] = [a, b].map((state) => {
    const { keys, values } = cutCells(state, cell, cell + 1);
    return Buffer.concat([...keys, ...values]);
  });
  return own!.equals(other!);
}
