import { BenchError } from '../config/bench-error.ts';
import type { StateHead } from '../llm/state-format.ts';
import { interleaveValues } from './interleave-values.ts';
import { type KeyRotation, keyRotation, type KeyShape, rotateKeys } from './rotate-keys.ts';
import type { RotatedKeys } from './rotated-keys.ts';
import { scaleValues } from './scale-values.ts';
import { allocateState, type KvCells } from './sequence-state.ts';
import { lendMemory } from './vector-kernels.ts';

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
 * The bytes are lent: the next join writes over them, or leaves them without length. Memory that is used again costs no
 * new pages, and what lies in that of the kernels needs no second copy.
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
  const positions = concatenate(parts.map(finalPositions));
  const head: StateHead = {
    tokenIds: tokensByPosition(positions, concatenate(parts.map(({ block }) => block.tokenIds))),
    streams: options.sequences,
    stream: 0,
    sequenceId: 0,
    positions,
    kv: layout,
  };
  const target = allocateState(head, lendMemory);
  let cell = 0;
  for (const part of parts) {
    const start = cell * layout.keyRowBytes;
    cell += part.block.positions.length;
    const end = cell * layout.keyRowBytes;
    placeKeys(
      part,
      target.keys.map((layer) => layer.subarray(start, end)),
      options,
    );
  }
  target.values.forEach((layer, index) => placeValues(parts, index, layer));
  return target.bytes;
}

function distanceOf({ block, position }: BlockPlacement): number {
  return position - block.positions[0]!;
}

function finalPositions(placement: BlockPlacement): Int32Array {
  const distance = distanceOf(placement);
  return placement.block.positions.map((position) => position + distance);
}

function requireJoinable(header: KvCells, placement: BlockPlacement): void {
  const { block, alpha } = placement;
  if (finalPositions(placement).some((position) => position < 0)) {
    throw new RangeError(`a block at position ${placement.position} has cells below 0, which llama.cpp would ignore`);
  }
  if (!Number.isFinite(alpha)) throw new RangeError(`alpha is ${alpha}`);
  const shape = (cells: KvCells): string => JSON.stringify(Object.entries(cells.layout).sort());
  if (block.layout !== header.layout && shape(block) !== shape(header)) {
    throw new BenchError(
      'bad-state',
      'a block of K/V has another layout than the header that it should follow',
      'compute both with one model and the same context options',
    );
  }
}

function concatenate(arrays: readonly Int32Array[]): Int32Array {
  const joined = new Int32Array(arrays.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const array of arrays) {
    joined.set(array, offset);
    offset += array.length;
  }
  return joined;
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

/** @param target the keys of this block in each layer of the state */
function placeKeys(placement: BlockPlacement, target: readonly Uint8Array[], options: JoinOptions): void {
  const { block } = placement;
  const distance = distanceOf(placement);
  const known = distance === 0 ? block.keys : options.rotated?.find(block, distance);
  if (known !== undefined) {
    target.forEach((layer, index) => layer.set(known[index]!));
    return;
  }
  const rotation: KeyRotation = keyRotation(options.keys, distance, block.layout.keyType);
  target.forEach((layer, index) => rotateKeys(block.keys[index]!, layer, rotation));
  options.rotated?.keep(block, distance, target);
}

/** @param target the values of one layer of the state, of all cells */
function placeValues(parts: readonly BlockPlacement[], layer: number, target: Uint8Array): void {
  const { valuesTransposed, valueRowBytes, valueType } = parts[0]!.block.layout;
  const blocks = parts.map(({ block, alpha }) => ({ values: block.values[layer]!, alpha }));
  if (valuesTransposed) {
    interleaveValues(target, blocks, valueRowBytes, valueType);
    return;
  }
  let offset = 0;
  for (const { values, alpha } of blocks) {
    const place = target.subarray(offset, offset + values.length);
    if (alpha === 1) place.set(values);
    else scaleValues(values, place, valueType, alpha);
    offset += values.length;
  }
}
