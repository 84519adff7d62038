import { BenchError } from '../base/bench-error.ts';
import {
  keyRowBytes,
  layerRotary,
  type Rotary,
  sameLayout,
  type SequenceState,
  valueRowBytes,
} from '../engine/sequence-state.ts';
import { type ArenaPlace, ArenaScratch, JoinedState } from './arena-cells.ts';
import { memoryAt, wholeMemory } from './wasm-arena.ts';
import { kernelChoice, type Kernels } from './kernels.ts';
import { placeValues } from './copy-arena-cells.ts';
import { keyRotation, rotateKeys, unusableNumbers } from './rotate-keys.ts';
import type { RotatedKeyCache } from './rotated-key-cache.ts';

/** A block, its position in the sequence, and the factors for its values and keys. */
export interface BlockPlacement {
  readonly block: SequenceState;
  /** Position of its first cell; the other cells keep their distances from it. */
  readonly position: number;
  readonly alpha: number;
  /** Divides its keys, and thus its attention logits. Default 1. @see APE, arXiv 2502.05431 */
  readonly temperature?: number;
}

/** How keys are rotated to new positions, and where rotated keys are reused from. */
export interface JoinOptions {
  /** Rotary embedding of the engine that computed the blocks. Frequencies are memoized by the identity of this object. */
  readonly rotary: Rotary;
  /** A cache of rotated keys. Default: none. */
  readonly rotated?: RotatedKeyCache;
  /** Default: the kernels chosen for this process. */
  readonly kernels?: Kernels;
}

/** First positions of contiguous blocks. @param start position of the first block */
export function contiguousPositions(blocks: readonly SequenceState[], start: number): number[] {
  let next = start;
  return blocks.map((block) => (next += block.positions.length) - block.positions.length);
}

/** A block, its source in the arena and its place in the joined state. */
interface Part extends BlockPlacement {
  readonly source: ArenaPlace;
  /** Index of its first cell in the joined state. */
  readonly start: number;
  /** Number of positions by which its cells move. */
  readonly distance: number;
}

/**
 * Joins KV blocks into one sequence state. The header's cells are copied unchanged; each block's keys are rotated to its
 * position and divided by its temperature (which rounds once more), and its values are multiplied by α. Cells have the given
 * order; positions may have gaps or be shared (parallel encoding).
 *
 * The result is in the arena until it is disposed of. Read `keys` and `values` at each use: views are valid only until more
 * memory is taken.
 *
 * @throws RangeError for a negative position, an α that is not finite, or a temperature that is not positive
 * @throws BenchError `bad-state` if a block has another layout than the header, or numbers that are not finite; `bad-model`
 * if keys cannot be rotated
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
  const all: readonly BlockPlacement[] = [{ block: header, position: header.positions[0]!, alpha: 1 }, ...placements];
  const cells = cellsInOrder(all);
  using scratch = new ArenaScratch();
  let end = 0;
  const parts = all.map((placement): Part => {
    const { block, position } = placement;
    const start = end;
    end += block.positions.length;
    return { ...placement, source: scratch.place(block), start, distance: position - block.positions[0]! };
  });
  const scaledAt = scratch.take(Math.max(...all.map(({ block }) => layerValueBytes(block))));
  const joined = new JoinedState({ layout: header.layout, ...cells });
  const { rotary, kernels = kernelChoice().kernels } = options;
  const layersByRotary = Map.groupBy(Array(header.layout.layers).keys(), (layer) => layerRotary(rotary, layer));
  try {
    for (const part of parts) {
      placeKeys(part, joined, layersByRotary, options);
      divideKeys(part, joined, kernels);
      scaleAndPlaceValues(part, joined, scaledAt, kernels);
    }
  } catch (error) {
    joined[Symbol.dispose]();
    throw error;
  }
  return joined;
}

function requireJoinable(header: SequenceState, { block, alpha, temperature = 1 }: BlockPlacement): void {
  if (!Number.isFinite(alpha)) throw new RangeError(`alpha is ${alpha}`);
  if (!(temperature > 0) || temperature === Infinity) throw new RangeError(`temperature is ${temperature}`);
  if (!sameLayout(block.layout, header.layout)) {
    const message = 'a KV block has another layout than the header that it should follow';
    throw new BenchError('bad-state', message, 'compute both with one model and the same context options');
  }
}

/** Final position and token of each cell. */
function cellsInOrder(parts: readonly BlockPlacement[]): Pick<SequenceState, 'positions' | 'tokenIds'> {
  const cells = parts.reduce((sum, { block }) => sum + block.positions.length, 0);
  const [positions, tokenIds] = [new Int32Array(cells), new Int32Array(cells)];
  let at = 0;
  for (const { block, position } of parts) {
    const distance = position - block.positions[0]!;
    tokenIds.set(block.tokenIds, at);
    for (const before of block.positions) {
      if (before + distance < 0) {
        throw new RangeError(`a block at position ${position} has cells below 0, which no engine can use`);
      }
      positions[at++] = before + distance;
    }
  }
  return { positions, tokenIds };
}

/** Copies keys to their place and rotates them by the distance. */
function placeKeys(
  { block, source, start, distance }: Part,
  target: ArenaPlace,
  layersByRotary: ReadonlyMap<Rotary, readonly number[]>,
  { rotated, kernels }: JoinOptions,
): void {
  const { layout } = block;
  const sizeBytes = layerKeyBytes(block);
  const targets = target.keysAt.map((address) => address + start * keyRowBytes(layout));
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
  for (const [own, layers] of layersByRotary) {
    const pick = (addresses: readonly number[]): readonly number[] =>
      layers.length === layout.layers ? addresses : layers.map((layer) => addresses[layer]!);
    const moves = { sources: pick(source.keysAt), targets: pick(targets), sizeBytes };
    rotateKeys(moves, keyRotation(own, layout, distance, kernels));
  }
  rotated?.keep(block, distance, () => memoryAt(targets, sizeBytes));
}

/** Divides keys at their final place, so that cached rotated keys stay undivided. */
function divideKeys({ block, start, temperature = 1 }: Part, { keysAt }: ArenaPlace, kernels: Kernels): void {
  if (temperature === 1) return;
  const { layout } = block;
  const keys = keysAt.map((address) => address + start * keyRowBytes(layout));
  const inPlace = { sources: keys, targets: keys, sizeBytes: layerKeyBytes(block) };
  if (!kernels.scale(layout.keyType, inPlace, 1 / temperature)) throw unusableNumbers('keys');
}

/** @param scaledAt address of scratch memory for the scaled values of one layer */
function scaleAndPlaceValues(part: Part, target: JoinedState, scaledAt: number, kernels: Kernels): void {
  const { block, source, start, alpha } = part;
  const { layout } = block;
  const cells = block.positions.length;
  const place = (sources: readonly number[], addresses: readonly number[]): void =>
    placeValues({ sources, cells, layout }, { addresses, cells: target.positions.length, start }, kernels);
  if (alpha === 1) {
    place(source.valuesAt, target.valuesAt);
    return;
  }
  const sizeBytes = layerValueBytes(block);
  source.valuesAt.forEach((address, layer) => {
    const values = { sources: [address], targets: [scaledAt], sizeBytes };
    if (!kernels.scale(layout.valueType, values, alpha)) throw unusableNumbers('values');
    place([scaledAt], [target.valuesAt[layer]!]);
  });
}

function layerKeyBytes({ positions, layout }: SequenceState): number {
  return positions.length * keyRowBytes(layout);
}

function layerValueBytes({ positions, layout }: SequenceState): number {
  return positions.length * valueRowBytes(layout);
}
