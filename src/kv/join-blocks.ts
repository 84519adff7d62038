import { BenchError } from '../base/bench-error.ts';
import { keyRowBytes, type Rotary, sameLayout, type SequenceState, valueRowBytes } from '../engine/sequence-state.ts';
import { JoinedState } from './joined-state.ts';
import { memoryAt, wholeMemory } from './kernel-memory.ts';
import type { KernelPlace } from './kept-cells.ts';
import type { MovingKernels } from './moving-kernels.ts';
import { placeValues } from './place-values.ts';
import { keyRotation, rotateKeys } from './rotate-keys.ts';
import type { RotatedKeys } from './rotated-keys.ts';
import { scaleNumbers, SLACK_BYTES } from './scale-numbers.ts';
import { WorkMemory } from './work-memory.ts';

/** A block, its position in the sequence, and the weight of its values. */
export interface BlockPlacement {
  readonly block: SequenceState;
  /** The position of its first cell; the others keep their distances from it. */
  readonly position: number;
  /** Multiplies its values. */
  readonly alpha: number;
  /**
   * Divides its keys, and so what a query finds in them before the softmax. Default 1, which leaves them as they are.
   * @see APE, arXiv 2502.05431
   */
  readonly temperature?: number;
}

/** All that a join needs besides cells. */
export interface JoinOptions {
  /** Of the engine that computed the blocks; its frequencies are remembered by this very object. */
  readonly rotary: Rotary;
  /** A cache of rotated keys; without it every block is rotated anew. */
  readonly rotated?: RotatedKeys;
  /** Default: those that were chosen for this process. */
  readonly kernels?: MovingKernels;
}

/** Positions for blocks, one behind the other from `start` on. */
export function contiguousPositions(blocks: readonly SequenceState[], start: number): number[] {
  let next = start;
  return blocks.map((block) => (next += block.positions.length) - block.positions.length);
}

/**
 * Joins K/V blocks into one sequence state: the header's cells once, untouched, and the cells of each block, its keys
 * rotated to its position and its values multiplied by α. Cells lie in the order given; positions may leave gaps, or be
 * shared (parallel encoding). Keys are divided by the temperature of their block, with a rounding of their own.
 *
 * The result is leased until it is disposed of. It lies in the memory of the kernels, so that it is made without a
 * second copy; read `keys` and `values` when they are used, since views last only until the next block is kept.
 *
 * @throws RangeError for a negative position, for an α that is no finite number, and a temperature that is none above 0
 * @throws BenchError `bad-state` where a block is of another layout than the header, or holds numbers that are not
 * finite; `bad-model` where keys cannot be re-positioned
 * @see Block-Attention, arXiv 2409.15355
 * @example
 * declare const session: EngineSession;
 * declare const rotary: Rotary;
 * declare const header: SequenceState;
 * declare const memories: readonly SequenceState[];
 * const positions = contiguousPositions(memories, header.positions.length);
 * const placements = memories.map((block, index) => ({ block, position: positions[index]!, alpha: 1 }));
 * using joined = joinBlocks(header, placements, { rotary });
 * await session.importCells(joined);
 */
export function joinBlocks(
  header: SequenceState,
  placements: readonly BlockPlacement[],
  options: JoinOptions,
): SequenceState {
  placements.forEach((placement) => requireJoinable(header, placement));
  const parts: readonly BlockPlacement[] = [{ block: header, position: header.positions[0]!, alpha: 1 }, ...placements];
  const cells = cellsInOrder(parts);
  using memory = new WorkMemory();
  const sources = parts.map(({ block }) => memory.placeOf(block));
  const scratch = memory.take(Math.max(...parts.map(({ block }) => layerBytes(block))) + SLACK_BYTES);
  const joined = new JoinedState({ layout: header.layout, ...cells });
  try {
    fill(joined, parts, sources, scratch, options);
  } catch (error) {
    joined[Symbol.dispose]();
    throw error;
  }
  return joined;
}

/** @param scratch the address at which the keys or values of a block in one layer are scaled */
function fill(
  joined: JoinedState,
  parts: readonly BlockPlacement[],
  sources: readonly KernelPlace[],
  scratch: number,
  options: JoinOptions,
): void {
  let cell = 0;
  for (const [index, part] of parts.entries()) {
    placeBlockKeys(part, sources[index]!, joined, cell, options);
    divideKeys(part, joined, cell, scratch);
    placeBlockValues(part, sources[index]!, joined, cell, scratch, options.kernels);
    cell += part.block.positions.length;
  }
}

function layerValueBytes({ positions, layout }: SequenceState): number {
  return positions.length * valueRowBytes(layout);
}

function layerKeyBytes({ positions, layout }: SequenceState): number {
  return positions.length * keyRowBytes(layout);
}

/** Of the keys or the values of a block in one layer, whichever are more. */
function layerBytes(block: SequenceState): number {
  return Math.max(layerKeyBytes(block), layerValueBytes(block));
}

function distanceOf({ block, position }: BlockPlacement): number {
  return position - block.positions[0]!;
}

function requireJoinable(header: SequenceState, { block, alpha, temperature = 1 }: BlockPlacement): void {
  if (!Number.isFinite(alpha)) throw new RangeError(`alpha is ${alpha}`);
  if (!(temperature > 0) || temperature === Infinity) throw new RangeError(`temperature is ${temperature}`);
  if (!sameLayout(block.layout, header.layout)) {
    throw new BenchError(
      'bad-state',
      'a block of K/V has another layout than the header that it should follow',
      'compute both with one model and the same context options',
    );
  }
}

/** The final position and the token of each cell. */
function cellsInOrder(parts: readonly BlockPlacement[]): Pick<SequenceState, 'positions' | 'tokenIds'> {
  const cells = parts.reduce((sum, { block }) => sum + block.positions.length, 0);
  const [positions, tokenIds] = [new Int32Array(cells), new Int32Array(cells)];
  let cell = 0;
  for (const part of parts) {
    const { block, position } = part;
    const distance = distanceOf(part);
    tokenIds.set(block.tokenIds, cell);
    for (const before of block.positions) {
      if (before + distance < 0) {
        throw new RangeError(`a block at position ${position} has cells below 0, which no engine can use`);
      }
      positions[cell++] = before + distance;
    }
  }
  return { positions, tokenIds };
}

/** @param start the cell of the state at which the block begins */
function placeBlockKeys(
  part: BlockPlacement,
  source: KernelPlace,
  target: KernelPlace,
  start: number,
  { rotary, rotated, kernels }: JoinOptions,
): void {
  const { block } = part;
  const rowBytes = keyRowBytes(block.layout);
  const sizeBytes = layerKeyBytes(block);
  const targets = target.keysAt.map((address) => address + start * rowBytes);
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
  rotateKeys({ sources: source.keysAt, targets, sizeBytes }, keyRotation(rotary, block.layout, distance, kernels));
  rotated?.keep(block, distance, () => memoryAt(targets, sizeBytes));
}

/**
 * Divides keys where they were placed; those that are remembered as rotated are not.
 * @param start the cell of the state at which the block begins
 */
function divideKeys(
  { block, temperature = 1 }: BlockPlacement,
  { keysAt }: KernelPlace,
  start: number,
  scratch: number,
): void {
  if (temperature === 1) return;
  const { layout } = block;
  const sizeBytes = layerKeyBytes(block);
  for (const address of keysAt) {
    const target = address + start * keyRowBytes(layout);
    wholeMemory().copyWithin(scratch, target, target + sizeBytes);
    scaleNumbers(scratch, sizeBytes, layout.keyType, 1 / temperature, 'keys');
    wholeMemory().copyWithin(target, scratch, scratch + sizeBytes);
  }
}

/** @param start the cell of the state at which the block begins */
function placeBlockValues(
  { block, alpha }: BlockPlacement,
  source: KernelPlace,
  target: JoinedState,
  start: number,
  scratch: number,
  kernels?: MovingKernels,
): void {
  const { layout, positions } = block;
  const place = (sources: readonly number[], addresses: readonly number[]): void =>
    placeValues(sources, positions.length, { addresses, cells: target.positions.length, start }, layout, kernels);
  if (alpha === 1) {
    place(source.valuesAt, target.valuesAt);
    return;
  }
  const sizeBytes = layerValueBytes(block);
  source.valuesAt.forEach((from, layer) => {
    wholeMemory().copyWithin(scratch, from, from + sizeBytes);
    scaleNumbers(scratch, sizeBytes, layout.valueType, alpha, 'values');
    place([scratch], [target.valuesAt[layer]!]);
  });
}
