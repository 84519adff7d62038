import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { copyOf } from '../../test/fixtures/moved-cells.ts';
import { smallLayout } from '../../test/fixtures/plain-states.ts';
import { replacing } from '../../test/fixtures/replacing.ts';
import { StoreFolder, testKey as key } from '../../test/fixtures/store-folder.ts';
import { ownedState, type SequenceState } from '../engine/sequence-state.ts';
import { BenchError } from '../base/bench-error.ts';
import { writeBlockFile } from './block-file.ts';
import { type BlockStore, openBlockStore } from './block-store.ts';

const folder = new StoreFolder();

/** Of one cell: keys and values of two layers. */
const CELL_BYTES = 32;

/** A block behind a header of five tokens. */
function block(tokens: number, fill: number): SequenceState {
  const tensors = (): Uint8Array[] => [0, 1].map((layer) => new Uint8Array(tokens * 8).fill(fill + layer));
  return ownedState({
    layout: { ...smallLayout, heads: 1, headDimension: 4 },
    tokenIds: Int32Array.from({ length: tokens }, (_, index) => fill + index),
    positions: Int32Array.from({ length: tokens }, (_, index) => 5 + index),
    keys: tensors(),
    values: tensors(),
  });
}

const open = async (memoryBytes = 1e6): Promise<BlockStore> => openBlockStore(await folder.open(1e6), memoryBytes);

/** Keeps a block of `ann` under the key of that number. */
const keep = (store: BlockStore, id: number, tokens: number, fill: number, memoryIds: string[] = []): SequenceState =>
  store.keep({ userId: 'ann', key: key(id), tokens, memoryIds }, block(tokens, fill));

it('finds a block in memory at once, and after settling the next process finds it on disk, unchanged', async () => {
  const store = await open();
  keep(store, 1, 3, 7, ['m1']);
  expect(await store.find('ann', key(1))).toMatchObject({ tier: 'memory' });
  expect(await store.find('bob', key(1))).toBeUndefined();
  const next = await open();
  expect([folder.files(), await next.find('ann', key(1))]).toEqual([[], undefined]);
  await store.settle();
  const [file] = folder.files().filter((path) => path.endsWith('.block'));
  expect(readFileSync(file!)).toEqual(Buffer.from(writeBlockFile(block(3, 7))));
  const found = (await next.find('ann', key(1)))!;
  expect(found.tier).toBe('disk');
  expect(copyOf(found.state)).toEqual(copyOf(block(3, 7)));
  expect((await next.find('ann', key(1)))!.tier).toBe('memory');
  expect(next.stats()).toMatchObject({
    memory: { hits: 1, entries: 1, sizeBytes: 3 * CELL_BYTES },
    disk: { hits: 1, entries: 1 },
  });
});

it('writes a block once, and tries again if the disk was full', async () => {
  const disk = await folder.open(1e6);
  let [written, isFull] = [0, true];
  const full = replacing(disk, {
    keepBlock: async (...kept) => {
      written++;
      if (isFull) throw new BenchError('disk', 'no space', 'free some');
      await disk.keepBlock(...kept);
    },
  });
  const store = openBlockStore(full, 1e6);
  keep(store, 1, 3, 7, ['m1']);
  await expect(store.settle()).rejects.toMatchObject({ code: 'disk' });
  isFull = false;
  await store.settle();
  await store.settle();
  expect([written, disk.stats().entries]).toEqual([2, 1]);
});

it('stays within its memory bound: evicts cheap and long unused blocks first, which stay on disk', async () => {
  // Two thirds are for blocks: ten cells.
  const store = await open(15 * CELL_BYTES);
  keep(store, 1, 6, 1);
  keep(store, 2, 2, 2);
  const found = (await store.find('ann', key(2)))!.state;
  // Rotated keys are kept when their distance comes a second time.
  for (let time = 1; time <= 2; time++) store.rotated.keep(found, 4, () => [new Uint8Array(9)]);
  expect(store.stats().memory.rotatedBytes).toBe(9);
  await store.find('ann', key(1));
  keep(store, 3, 4, 3);
  expect(store.stats().memory).toMatchObject({ evicted: 0, entries: 3, rotatedBytes: 9 });
  await store.settle();
  expect(store.stats().memory).toMatchObject({ evicted: 1, entries: 2, sizeBytes: 10 * CELL_BYTES, rotatedBytes: 0 });
  expect((await store.find('ann', key(1)))!.tier).toBe('memory');
  expect((await store.find('ann', key(2)))!.tier).toBe('disk');
});

it('does not keep a block in memory that is larger than its bound', async () => {
  const store = await open(3 * CELL_BYTES);
  keep(store, 1, 6, 1);
  await store.settle();
  expect(store.stats().memory).toMatchObject({ entries: 0, sizeBytes: 0 });
  expect((await store.find('ann', key(1)))!.tier).toBe('disk');
});

it('forgets a memory of one user on both tiers, with its rotated keys', async () => {
  const store = await open();
  keep(store, 1, 3, 1, ['m1']);
  keep(store, 2, 3, 2, ['m2']);
  store.keep({ userId: 'bob', key: key(1), tokens: 3, memoryIds: ['m1'] }, block(3, 1));
  await store.settle();
  const { state } = (await store.find('ann', key(1)))!;
  for (let time = 1; time <= 2; time++) store.rotated.keep(state, 4, () => [new Uint8Array(9)]);
  expect(await store.forgetMemory('ann', 'm1')).toBe(1);
  expect(store.rotated.find(state, 4)).toBeUndefined();
  expect(await store.find('ann', key(1))).toBeUndefined();
  expect(store.stats()).toMatchObject({ memory: { entries: 2, rotatedBytes: 0 }, disk: { entries: 2, misses: 1 } });
  expect((await store.find('bob', key(1)))!.tier).toBe('memory');
  await store.clear();
  expect(store.stats()).toMatchObject({ memory: { entries: 0, sizeBytes: 0 }, disk: { entries: 0 } });
  expect(folder.files()).toEqual([]);
});

it('writes a block only when it is evicted, if no other process uses the folder', async () => {
  const store = openBlockStore(await folder.open(1e6), 15 * CELL_BYTES, 'when-evicted');
  keep(store, 1, 6, 1, ['m1']);
  keep(store, 2, 2, 2, ['m2']);
  await store.settle();
  expect(store.stats().disk.entries).toBe(0);
  keep(store, 3, 4, 3, ['m2', 'm3']);
  expect(store.stats().disk.entries).toBe(0);
  await store.settle();
  expect(store.stats()).toMatchObject({ memory: { entries: 2, evicted: 1 }, disk: { entries: 1 } });
  expect((await store.find('ann', key(1)))!.tier).toBe('memory');
  const found = (await store.find('ann', key(2)))!;
  expect(found.tier).toBe('disk');
  expect([...found.state.keys[1]!]).toEqual([...block(2, 2).keys[1]!]);
  // One that is in memory alone, and one on disk that is in memory again.
  expect(await store.forgetMemory('ann', 'm2')).toBe(2);
  const tiers = await Promise.all([1, 2, 3].map(async (id) => (await store.find('ann', key(id)))?.tier));
  expect(tiers).toEqual(['memory', undefined, undefined]);
});

it('rejects an undamaged file that is not a block, and does not count it as a hit', async () => {
  const disk = await folder.open(1e6);
  await disk.keepBlock({ userId: 'ann', key: key(1), tokens: 3, memoryIds: [] }, Buffer.from('no block at all'));
  const store = openBlockStore(disk, 1e6);
  expect(await store.find('ann', key(1))).toBeUndefined();
  expect(disk.stats()).toMatchObject({ rejected: 1, hits: 0, misses: 1, entries: 0 });
});

it('does not count a block with other tokens as a hit of its tier', async () => {
  const store = await open();
  keep(store, 1, 3, 7);
  await store.settle();
  const next = await open();
  for (const [tier, one] of [
    ['disk', next],
    ['memory', store],
  ] as const) {
    expect((await one.find('ann', key(1)))!.tier).toBe(tier);
    await one.reject('ann', key(1));
    expect(one.stats()).toMatchObject({ memory: { hits: 0, entries: 0 }, disk: { hits: 0, rejected: 1, entries: 0 } });
  }
});

it('lets a turn read a block that was evicted or replaced meanwhile, but not one that was forgotten', async () => {
  const store = await open(15 * CELL_BYTES);
  const fills = ({ keys, values }: SequenceState): number[] => [...keys, ...values].map((tensor) => tensor.at(-1)!);
  const first = keep(store, 1, 6, 1, ['m1']);
  keep(store, 2, 10, 40, ['m2']);
  await store.settle();
  expect([store.stats().memory.evicted, fills(first)]).toEqual([1, [1, 2, 1, 2]]);
  const second = (await store.find('ann', key(2)))!.state;
  const replaced = keep(store, 2, 10, 40, ['m2']);
  expect(fills(second)).toEqual([40, 41, 40, 41]);
  await store.forgetMemory('ann', 'm2');
  expect(() => replaced.keys).toThrow('was deleted while a turn was using it');
  const third = keep(store, 3, 4, 60, ['m3']);
  await store.clear();
  expect(() => third.values).toThrow('was deleted while a turn was using it');
});

it('does not find a block that is forgotten while it is read from or written to disk', async () => {
  const store = await open();
  keep(store, 1, 3, 1, ['m1']);
  const settled = store.settle();
  expect(await store.forgetMemory('ann', 'm1')).toBe(1);
  await settled;
  await store.settle();
  expect(await store.find('ann', key(1))).toBeUndefined();
  const before = await open();
  keep(before, 2, 3, 2, ['m2']);
  await before.settle();
  const next = await open();
  const found = next.find('ann', key(2));
  expect(await next.forgetMemory('ann', 'm2')).toBe(1);
  await found.catch(() => undefined);
  expect(await next.find('ann', key(2))).toBeUndefined();
  expect([next.stats().memory.entries, folder.files()]).toEqual([0, []]);
});

it('stores all blocks that evict each other at the same time', async () => {
  const store = openBlockStore(await folder.open(1e6), 15 * CELL_BYTES, 'when-evicted');
  const ids = [1, 2, 3, 4, 5];
  await Promise.all(
    ids.map(async (id) => {
      keep(store, id, 6, 10 * id, [`m${id}`]);
      await store.settle();
    }),
  );
  expect(store.stats()).toMatchObject({ memory: { entries: 1, evicted: 4, sizeBytes: 6 * CELL_BYTES } });
  for (const id of ids) expect(copyOf((await store.find('ann', key(id)))!.state)).toEqual(copyOf(block(6, 10 * id)));
});
