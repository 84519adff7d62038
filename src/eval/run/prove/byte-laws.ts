import type { CallOptions } from '../../../engine/call-options.ts';
import type { SequenceState } from '../../../engine/sequence-state.ts';
import type { TokenRange } from '../../../engine/token-id.ts';
import { cutCells } from '../../../kv/cut-cells.ts';
import { contiguousPositions } from '../../../kv/join-blocks.ts';
import { kvTools } from '../../../kv/kv-tools.ts';
import type { CellMaker, ExpectedParts } from './expected-cells.ts';

/** The injected parts of a turn. */
interface Recomputed extends Pick<ExpectedParts, 'header' | 'lines' | 'making'> {
  readonly recomputed: readonly TokenRange[];
  readonly alpha: number;
}

/**
 * The first law of recomputed blocks that cells break, in words; null where they break none. They hold byte for byte where
 * cuts are exact: cells that were not recomputed are those of the joined blocks, all of them where nothing was; and with all
 * behind the first block recomputed, cells that are not scaled are those of the text.
 * @param found of header and blocks
 */
export async function brokenLaw(
  { fresh, cells }: Pick<CellMaker, 'fresh' | 'cells'>,
  found: SequenceState,
  { header, lines, making, recomputed, alpha }: Recomputed,
  options: CallOptions,
): Promise<string | null> {
  const isNew = (cell: number): boolean => recomputed.some(({ start, end }) => start <= cell && cell < end);
  using blocks = await joinedAnew({ fresh, cells }, { header, lines, making }, alpha, options);
  const changed = otherCell(found, blocks, (cell) => !isNew(cell));
  if (changed !== undefined) {
    return `cell ${changed} was not recomputed, and its bytes are not those of the joined blocks`;
  }
  const first = header.length + (lines[0]?.length ?? 0);
  const isAll = Array.from({ length: found.positions.length - first }, (_, index) => first + index).every(isNew);
  if (!isAll || alpha !== 1) return null;
  const text = await fresh.behind([], [...header, ...lines.flat()], options);
  const other = otherCell(found, text, () => true);
  return other === undefined ? null : `all is recomputed, and the bytes of cell ${other} are not those of the text`;
}

async function joinedAnew(
  { fresh, cells }: Pick<CellMaker, 'fresh' | 'cells'>,
  { header, lines, making }: Pick<Recomputed, 'header' | 'lines' | 'making'>,
  alpha: number,
  options: CallOptions,
): Promise<SequenceState> {
  const front = await fresh.behind([], header, options);
  const start = header.length;
  const blocks: SequenceState[] = [];
  for (const [index, line] of lines.entries()) {
    const neighbour = making?.context === 'previous' ? (lines[index - 1] ?? []) : [];
    const block = await fresh.behind(header, [...neighbour, ...line], options);
    blocks.push(cutCells(block, neighbour.length, neighbour.length + line.length));
  }
  const positions = contiguousPositions(blocks, start);
  const placements = blocks.map((block, index) => ({ block, position: positions[index]!, alpha }));
  return kvTools.join(front, placements, { rotary: cells.rotary });
}

/** The first cell of those compared whose keys or values are other bytes. */
function otherCell(a: SequenceState, b: SequenceState, isCompared: (cell: number) => boolean): number | undefined {
  const cells = [...a.positions.keys()].filter(isCompared);
  return cells.find((cell) => !bytesOf(a, cell).equals(bytesOf(b, cell)));
}

function bytesOf(state: SequenceState, cell: number): Buffer {
  const { keys, values } = cutCells(state, cell, cell + 1);
  return Buffer.concat([...keys, ...values]);
}
