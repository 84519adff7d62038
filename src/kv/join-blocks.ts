import { BenchError } from '../config/bench-error.ts';
import type { KvLayout, StateHead } from '../llm/state-format.ts';
import { JoinMemory } from './join-memory.ts';
import { lendMemory, wholeMemory } from './kernel-memory.ts';
import type { KernelPlace } from './kept-cells.ts';
import { placeValues } from './place-values.ts';
import { keyRotation, type KeyShape, rotateKeys } from './rotate-keys.ts';
import type { RotatedKeys } from './rotated-keys.ts';
import { scaleValues, SLACK_BYTES } from './scale-values.ts';
import { allocateState, type KvCells } from './sequence-state.ts';

/** The id that stands in the token list for a position that no cell has, or more than one. */
export const PLACEHOLDER_TOKEN = 0;

/** Where a block goes, and how strongly it speaks. */
export interface BlockPlacement {
  readonly block: KvCells;
  /** The position of its first cell; the others keep their distances from it. */
  readonly position: number;
  /** Multiplies its values. */
  readonly alpha: number;
}

/** What a join needs besides cells. */
export interface JoinOptions {
  readonly keys: KeyShape;
  /** Sequences of the context that will load the state. */
  readonly sequences: number;
  /** Where turned keys are looked up and kept; without it every block is turned anew. */
  readonly rotated?: RotatedKeys;
}

/** Positions for blocks, one behind the other from `start` on. */
export function contiguousPositions(blocks: readonly KvCells[], start: number): number[] {
  let next = start;
  return blocks.map((block) => (next += block.positions.length) - block.positions.length);
}

/**
 * The header's cells once, untouched, and the cells of each block, turned to its position and scaled: the bytes of one
 * llama.cpp state. The token list has the exact id of every position that one cell has, a placeholder elsewhere.
 * Cells lie in the order given; positions may leave gaps, or be shared (`parallel`).
 *
 * The bytes are lent: the next join writes over them, or leaves them without length, as the next block that is kept may
 * do. Memory that is used again costs no new pages, and what lies in that of the kernels needs no second copy.
 *
 * @throws RangeError for a negative position, which llama.cpp would ignore, and for an α that is no finite number
 * @throws BenchError `bad-state` where a block is of another layout than the header; `bad-model` where keys cannot be
 * re-positioned
 */
export function joinBlocks(
  header: KvCells,
  placements: readonly BlockPlacement[],
  options: JoinOptions,
): Uint8Array<ArrayBuffer> {
  const { layout } = header;
  placements.forEach((placement) => requireJoinable(header, placement));
  const parts: readonly BlockPlacement[] = [{ block: header, position: header.positions[0]!, alpha: 1 }, ...placements];
  const { positions, tokenIds } = cellsInOrder(parts);
  const head: StateHead = {
    tokenIds: tokensByPosition(positions, tokenIds),
    streams: options.sequences,
    stream: 0,
    sequenceId: 0,
    positions,
    kv: layout,
  };
  using memory = new JoinMemory();
  const sources = parts.map(({ block }) => memory.placeOf(block));
  const scratch = memory.take(Math.max(...parts.map(({ block }) => layerValueBytes(block))) + SLACK_BYTES);
  // Last, since taking memory may end a loan.
  const { bytes, keysAt, valuesAt } = allocateState(head, lendMemory);
  const target: JoinTarget = {
    keysAt: keysAt.map((start) => bytes.byteOffset + start),
    valuesAt: valuesAt.map((start) => bytes.byteOffset + start),
    cells: positions.length,
    scratch,
  };
  let cell = 0;
  for (const [index, part] of parts.entries()) {
    placeBlockKeys(part, sources[index]!, target, cell, options);
    placeBlockValues(part, sources[index]!, target, cell);
    cell += part.block.positions.length;
  }
  return bytes;
}

/** A state that is being filled in. */
interface JoinTarget extends KernelPlace {
  readonly cells: number;
  /** The address at which the values of a block in one layer are scaled. */
  readonly scratch: number;
}

function layerValueBytes({ positions, layout }: KvCells): number {
  return positions.length * layout.valueRowBytes;
}

function distanceOf({ block, position }: BlockPlacement): number {
  return position - block.positions[0]!;
}

function requireJoinable(header: KvCells, { block, alpha }: BlockPlacement): void {
  if (!Number.isFinite(alpha)) throw new RangeError(`alpha is ${alpha}`);
  const properties = Object.keys(header.layout) as (keyof KvLayout)[];
  if (properties.some((property) => block.layout[property] !== header.layout[property])) {
    throw new BenchError(
      'bad-state',
      'a block of K/V has another layout than the header that it should follow',
      'compute both with one model and the same context options',
    );
  }
}

/** The final position and the token of each cell. */
function cellsInOrder(parts: readonly BlockPlacement[]): Pick<KvCells, 'positions' | 'tokenIds'> {
  const cells = parts.reduce((sum, { block }) => sum + block.positions.length, 0);
  const [positions, tokenIds] = [new Int32Array(cells), new Int32Array(cells)];
  let cell = 0;
  for (const part of parts) {
    const { block, position } = part;
    const distance = distanceOf(part);
    tokenIds.set(block.tokenIds, cell);
    for (const before of block.positions) {
      if (before + distance < 0) {
        throw new RangeError(`a block at position ${position} has cells below 0, which llama.cpp would ignore`);
      }
      positions[cell++] = before + distance;
    }
  }
  return { positions, tokenIds };
}

function tokensByPosition(positions: Int32Array, tokenIds: Int32Array): Int32Array {
  let last = -1;
  for (const position of positions) last = Math.max(last, position);
  const tokens = new Int32Array(last + 1).fill(PLACEHOLDER_TOKEN);
  const taken = new Uint8Array(last + 1);
  for (let cell = 0; cell < positions.length; cell++) {
    const position = positions[cell]!;
    tokens[position] = taken[position] === 0 ? tokenIds[cell]! : PLACEHOLDER_TOKEN;
    taken[position] = 1;
  }
  return tokens;
}

/** @param start the cell of the state at which the block begins */
function placeBlockKeys(
  part: BlockPlacement,
  source: KernelPlace,
  target: JoinTarget,
  start: number,
  { keys: shape, rotated }: JoinOptions,
): void {
  const { block } = part;
  const { keyRowBytes, keyType } = block.layout;
  const sizeBytes = block.positions.length * keyRowBytes;
  const targets = target.keysAt.map((address) => address + start * keyRowBytes);
  const distance = distanceOf(part);
  const memory = wholeMemory();
  if (distance === 0) {
    source.keysAt.forEach((from, layer) => memory.copyWithin(targets[layer]!, from, from + sizeBytes));
    return;
  }
  const known = rotated?.find(block, distance);
  if (known !== undefined) {
    known.forEach((keys, layer) => memory.set(keys, targets[layer]));
    return;
  }
  rotateKeys(source.keysAt, targets, sizeBytes, keyRotation(shape, distance, keyType));
  rotated?.keep(block, distance, () => targets.map((from) => memory.subarray(from, from + sizeBytes)));
}

/** @param start the cell of the state at which the block begins */
function placeBlockValues(
  { block, alpha }: BlockPlacement,
  source: KernelPlace,
  target: JoinTarget,
  start: number,
): void {
  const { layout, positions } = block;
  const sizeBytes = layerValueBytes(block);
  source.valuesAt.forEach((from, layer) => {
    if (alpha !== 1) {
      wholeMemory().copyWithin(target.scratch, from, from + sizeBytes);
      scaleValues(target.scratch, sizeBytes, layout.valueType, alpha);
    }
    const values = { address: target.valuesAt[layer]!, cells: target.cells };
    placeValues(alpha === 1 ? from : target.scratch, positions.length, values, start, layout);
  });
}
