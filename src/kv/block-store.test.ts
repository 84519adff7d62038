import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KvLayout } from '../llm/state-format.ts';
import { BlockStore } from './block-store.ts';
import type { KvCells } from './sequence-state.ts';
import { stateKey } from './state-key.ts';
import { StateStore } from './state-store.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'block-store-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const layout: KvLayout = {
  layers: 2,
  keyType: 'F16',
  valueType: 'F16',
  keyRowBytes: 8,
  valueRowBytes: 8,
  valuesTransposed: true,
};
/** Of one cell: keys and values of two layers. */
const CELL_BYTES = 32;

const key = (id: number): string => stateKey({ modelSha256: 'm', contextOptions: {}, template: 't', tokenIds: [id] });

/** A block behind a header of five tokens. */
function block(tokens: number, fill: number): KvCells {
  const tensors = (): Uint8Array[] => [0, 1].map((layer) => new Uint8Array(tokens * 8).fill(fill + layer));
  return {
    layout,
    tokenIds: Int32Array.from({ length: tokens }, (_, index) => fill + index),
    positions: Int32Array.from({ length: tokens }, (_, index) => 5 + index),
    keys: tensors(),
    values: tensors(),
  };
}

const open = (memoryBytes = 1e6): BlockStore => new BlockStore(new StateStore(root, 1e6), memoryBytes);

it('gives a block back from memory, and to the next process from disk, as it was', () => {
  const store = open();
  store.keep('ann', key(1), 3, ['m1'], block(3, 7));
  expect(store.find('ann', key(1))).toMatchObject({ tier: 'memory' });
  expect(store.find('bob', key(1))).toBeUndefined();
  const next = open();
  const found = next.find('ann', key(1))!;
  expect(found.tier).toBe('disk');
  const { tokenIds, positions, keys, values } = block(3, 7);
  expect(found.cells).toMatchObject({ layout, tokenIds, positions });
  expect(found.cells.keys.map((tensor) => [...tensor])).toEqual(keys.map((tensor) => [...tensor]));
  expect(found.cells.values.map((tensor) => [...tensor])).toEqual(values.map((tensor) => [...tensor]));
  expect(next.find('ann', key(1))!.tier).toBe('memory');
  expect(next.stats()).toMatchObject({
    memory: { hits: 1, entries: 1, sizeBytes: 3 * CELL_BYTES },
    disk: { hits: 1, entries: 1 },
  });
});

it('keeps within its bound in memory, gives up cheap and long unused blocks first, and has them on disk still', async () => {
  // Two thirds are for blocks: ten cells.
  const store = open(15 * CELL_BYTES);
  store.keep('ann', key(1), 6, [], block(6, 1));
  store.keep('ann', key(2), 2, [], block(2, 2));
  const turned = store.find('ann', key(2))!.cells;
  // Turned keys are kept when their distance comes a second time.
  for (let time = 1; time <= 2; time++) store.rotated.keep(turned, 4, () => [new Uint8Array(9)]);
  expect(store.stats().memory.rotatedBytes).toBe(9);
  store.find('ann', key(1));
  store.keep('ann', key(3), 4, [], block(4, 3));
  expect(store.stats().memory).toMatchObject({ evicted: 1, entries: 2, sizeBytes: 10 * CELL_BYTES, rotatedBytes: 0 });
  expect(store.find('ann', key(1))!.tier).toBe('memory');
  expect(store.find('ann', key(2))!.tier).toBe('disk');
});

it('does not keep in memory what is larger than its bound', async () => {
  const store = open(3 * CELL_BYTES);
  store.keep('ann', key(1), 6, [], block(6, 1));
  expect(store.stats().memory).toMatchObject({ entries: 0, sizeBytes: 0 });
  expect(store.find('ann', key(1))!.tier).toBe('disk');
});

it('forgets a memory on both tiers, its turned keys too, of that user alone', () => {
  const store = open();
  store.keep('ann', key(1), 3, ['m1'], block(3, 1));
  store.keep('ann', key(2), 3, ['m2'], block(3, 2));
  store.keep('bob', key(1), 3, ['m1'], block(3, 1));
  const { cells } = store.find('ann', key(1))!;
  for (let time = 1; time <= 2; time++) store.rotated.keep(cells, 4, () => [new Uint8Array(9)]);
  expect(store.forgetMemory('ann', 'm1')).toBe(1);
  expect(store.rotated.find(cells, 4)).toBeUndefined();
  expect(store.find('ann', key(1))).toBeUndefined();
  expect(store.stats()).toMatchObject({ memory: { entries: 2, rotatedBytes: 0 }, disk: { entries: 2, misses: 1 } });
  expect(store.find('bob', key(1))!.tier).toBe('memory');
  store.clear();
  expect(store.stats()).toMatchObject({ memory: { entries: 0, sizeBytes: 0 }, disk: { entries: 0 } });
  expect(readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'))).toEqual([]);
});

it('writes a block to disk when it leaves memory, where nobody else will look for it', async () => {
  const store = new BlockStore(new StateStore(root, 1e6), 15 * CELL_BYTES, 'when-evicted');
  store.keep('ann', key(1), 6, ['m1'], block(6, 1));
  store.keep('ann', key(2), 2, ['m2'], block(2, 2));
  expect(store.stats().disk.entries).toBe(0);
  store.keep('ann', key(3), 4, ['m2', 'm3'], block(4, 3));
  expect(store.stats()).toMatchObject({ memory: { entries: 2, evicted: 1 }, disk: { entries: 1 } });
  expect(store.find('ann', key(1))!.tier).toBe('memory');
  const found = store.find('ann', key(2))!;
  expect(found.tier).toBe('disk');
  expect([...found.cells.keys[1]!]).toEqual([...block(2, 2).keys[1]!]);
  // One that is in memory alone, and one on disk that is in memory again.
  expect(store.forgetMemory('ann', 'm2')).toBe(2);
  expect([1, 2, 3].map((id) => store.find('ann', key(id))?.tier)).toEqual(['memory', undefined, undefined]);
});

it('rejects a file that is whole and no state, and counts it as no hit', async () => {
  const states = new StateStore(root, 1e6);
  await states.keep('ann', key(1), 3, [], (path) => writeFile(path, 'no state at all'));
  const store = new BlockStore(states, 1e6);
  expect(store.find('ann', key(1))).toBeUndefined();
  expect(states.stats()).toMatchObject({ rejected: 1, hits: 0, misses: 1, entries: 0 });
});

it('lets a turn read what it found when the block is evicted or kept anew meanwhile, and nothing that was forgotten', () => {
  const store = open(15 * CELL_BYTES);
  const fills = (cells: KvCells): number[] => [...cells.keys, ...cells.values].map((tensor) => tensor.at(-1)!);
  const first = store.keep('ann', key(1), 6, ['m1'], block(6, 1));
  store.keep('ann', key(2), 10, ['m2'], block(10, 40));
  expect([store.stats().memory.evicted, fills(first)]).toEqual([1, [1, 2, 1, 2]]);
  const second = store.find('ann', key(2))!.cells;
  const replaced = store.keep('ann', key(2), 10, ['m2'], block(10, 40));
  expect(fills(second)).toEqual([40, 41, 40, 41]);
  store.forgetMemory('ann', 'm2');
  expect(() => replaced.keys).toThrow('was deleted while a turn was using it');
  const third = store.keep('ann', key(3), 4, ['m3'], block(4, 60));
  store.clear();
  expect(() => third.values).toThrow('was deleted while a turn was using it');
});
