import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { StoreFolder, testKey as key } from '../../test/fixtures/store-folder.ts';
import { BenchError } from '../base/bench-error.ts';
import { hostInFileName, writerInFileName } from '../base/is-process-running.ts';
import type { Checkpoint } from '../engine/engine-session.ts';
import { KvStore } from './kv-disk-store.ts';

const folder = new StoreFolder();

const making =
  (content: string, tokens?: number) =>
  (id: string): Promise<Checkpoint> =>
    folder.checkpoints.make(id, content, tokens);
const namesOf = (paths: readonly string[]): string[] => paths.map((path) => basename(path)).sort();

it('a checkpoint is found as it was made, under a new id each time', async () => {
  const store = await folder.open();
  const made = await store.keepCheckpoint('ann', key(1), ['m1'], making('state', 3));
  expect(await store.findCheckpoint('ann', key(1))).toEqual(made);
  expect(made).toMatchObject({ tokens: [0, 1, 2], bytes: 5 });
  const again = await store.keepCheckpoint('ann', key(1), ['m1'], making('state', 3));
  expect(again.id).not.toBe(made.id);
  for (const { id } of [made, again]) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  // The one that was replaced is gone.
  expect(folder.checkpoints.ids()).toEqual([again.id]);
  expect(store.stats()).toMatchObject({ entries: 1, sizeBytes: 5 });
});

it('the id is written down before the bytes are made', async () => {
  const store = await folder.open();
  const seen: string[][] = [];
  await store.keepCheckpoint('ann', key(1), [], async (id) => {
    seen.push(namesOf(folder.files()));
    expect(await (await folder.open()).findCheckpoint('ann', key(1))).toBeUndefined();
    seen.push(namesOf(folder.files()));
    return folder.checkpoints.make(id, 'state');
  });
  const { id } = (await store.findCheckpoint('ann', key(1)))!;
  const inWork = [`${key(1)}.${id}.checkpoint`, `${key(1)}.json.${id}.${writerInFileName}.new`];
  expect(seen).toEqual([inWork, inWork]);
  expect(namesOf(folder.files())).toEqual([`${key(1)}.${id}.checkpoint`, `${key(1)}.json`]);
});

describe('what a killed process was making is deleted by the next that opens the store,', () => {
  /** Leaves what a process leaves that is killed while it makes a checkpoint. */
  async function leave(processId: number, record: string, host = hostInFileName): Promise<string> {
    const store = await folder.open();
    await store.keepCheckpoint('ann', key(1), [], making('kept'));
    const { id } = await folder.checkpoints.make('unfinished-1', 'half');
    const place = dirname(folder.record(key(1)));
    writeFileSync(join(place, `${key(2)}.${id}.checkpoint`), '');
    writeFileSync(join(place, `${key(2)}.json.${id}.${host}-${processId}.new`), record);
    return id;
  }

  it.each(['', '{"key":"half a rec'])('its bytes too, with the record %j', async (record) => {
    await leave(spawnSync('true').pid, record);
    expect(folder.checkpoints.ids()).toHaveLength(2);
    const store = await folder.open();
    const kept = (await store.findCheckpoint('ann', key(1)))!;
    expect(folder.checkpoints.ids()).toEqual([kept.id]);
    expect(namesOf(folder.files())).toEqual([`${key(1)}.${kept.id}.checkpoint`, `${key(1)}.json`]);
    expect(store.stats()).toMatchObject({ entries: 1, sizeBytes: 4 });
  });

  it('which leaves alone what a living one makes, also of a key that it removes', async () => {
    // Process 1 always runs.
    const id = await leave(1, '');
    const store = await folder.open();
    expect(folder.checkpoints.ids()).toContain(id);
    await store.keepCheckpoint('ann', key(2), ['m2'], making('mine'));
    expect(await store.forgetMemory('ann', 'm2')).toBe(1);
    expect(folder.checkpoints.ids().sort()).toEqual([(await store.findCheckpoint('ann', key(1)))!.id, id].sort());
    expect(namesOf(folder.files())).toContain(`${key(2)}.${id}.checkpoint`);
  });

  it('and what one on another host made, unless it wrote within the hour', async () => {
    const id = await leave(spawnSync('true').pid, '', 'elsewhere');
    await folder.open();
    expect(folder.checkpoints.ids()).toContain(id);
    const record = folder.files().find((name) => name.endsWith('.new'))!;
    const longAgo = Date.now() / 1000 - 3700;
    utimesSync(record, longAgo, longAgo);
    await folder.open();
    expect(folder.checkpoints.ids()).not.toContain(id);
  });

  it('also where its engine could not delete the bytes before', async () => {
    const id = await leave(spawnSync('true').pid, '');
    const broken = { deleteCheckpoint: () => Promise.reject(new BenchError('unreachable', 'no engine', 'start it')) };
    await expect(KvStore.open(folder.root, 1000, broken)).rejects.toThrow('no engine');
    expect(folder.checkpoints.ids()).toContain(id);
    await folder.open();
    expect(folder.checkpoints.ids()).not.toContain(id);
  });
});

describe('where making fails', () => {
  it.each([
    ['an error of the engine comes back as it is', new BenchError('context-overflow', 'too long', ''), 'too long'],
    ['a mistake comes back as it is', new RangeError('an empty session'), 'an empty session'],
    ['any other names the folder', new Error('no space left on device'), 'a KV state could not be written: no space'],
  ])('%s, and nothing is left', async (_, error, message) => {
    const store = await folder.open();
    const failing = store.keepCheckpoint('ann', key(1), [], async (id) => {
      await folder.checkpoints.make(id, 'half of it');
      throw error;
    });
    await expect(failing).rejects.toThrow(message);
    expect([folder.files(), folder.checkpoints.ids()]).toEqual([[], []]);
    expect(store.stats()).toMatchObject({ entries: 0, sizeBytes: 0 });
  });

  it('the previous checkpoint stays', async () => {
    const store = await folder.open();
    await store.keepCheckpoint('ann', key(1), [], making('before'));
    await expect(store.keepCheckpoint('ann', key(1), [], () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(folder.checkpoints.read((await store.findCheckpoint('ann', key(1)))!).toString()).toBe('before');
  });

  it('since the id is another, it is a mistake of the caller', async () => {
    const store = await folder.open();
    const other = store.keepCheckpoint('ann', key(1), [], () => folder.checkpoints.make('mine', 'state'));
    await expect(other).rejects.toThrow('checkpoint mine was made as ');
    expect(folder.files()).toEqual([]);
  });
});

it('a record copied from another user is not used, although it names existing bytes', async () => {
  const store = await folder.open();
  await store.keepCheckpoint('bob', key(1), ['m1'], making('of bob'));
  const [record, mark] = folder.files().toSorted().reverse() as [string, string];
  await store.keepCheckpoint('ann', key(2), [], making('of ann'));
  const place = dirname(folder.record(key(2)));
  for (const path of [record, mark]) copyFileSync(path, join(place, basename(path)));
  expect(await store.findCheckpoint('ann', key(1))).toBeUndefined();
  expect(store.stats()).toMatchObject({ rejected: 1, hits: 0 });
  expect(namesOf(folder.files().filter((path) => path.startsWith(place) && path.includes(key(1))))).toEqual([]);
});

it('a checkpoint whose bytes another process deleted is found, refused by the engine, and rejected', async () => {
  const store = await folder.open();
  const { id } = await store.keepCheckpoint('ann', key(1), [], making('state'));
  const found = (await store.findCheckpoint('ann', key(1)))!;
  await folder.checkpoints.deleteCheckpoint({ id });
  expect(() => folder.checkpoints.read(found)).toThrow(BenchError);
  await store.reject('ann', key(1));
  expect(store.stats()).toMatchObject({ hits: 0, misses: 1, rejected: 1, entries: 0, sizeBytes: 0 });
  expect(folder.files()).toEqual([]);
});

it('a rejection deletes the entry that was found, not its replacement by another process', async () => {
  const [a, b] = [await folder.open(), await folder.open()];
  await a.keepCheckpoint('ann', key(1), [], making('older'));
  await a.findCheckpoint('ann', key(1));
  const newer = await b.keepCheckpoint('ann', key(1), [], making('newer'));
  await a.reject('ann', key(1));
  expect(a.stats()).toMatchObject({ rejected: 1, entries: 0 });
  expect(await a.findCheckpoint('ann', key(1))).toEqual(newer);
  expect(folder.checkpoints.read(newer).toString()).toBe('newer');
});

it('blocks and checkpoints share one bound', async () => {
  const store = await folder.open(25);
  await store.keepCheckpoint('ann', key(1), [], making('ten bytes!', 5));
  await store.keepBlock({ userId: 'ann', key: key(2), tokens: 500, memoryIds: [] }, Buffer.from('ten bytes!'));
  await store.keepCheckpoint('bob', key(3), [], making('ten bytes!', 50));
  expect(store.stats()).toMatchObject({ evicted: 1, entries: 2, sizeBytes: 20 });
  expect(folder.checkpoints.ids()).toEqual([(await store.findCheckpoint('bob', key(3)))!.id]);
  await store.clear();
  expect([folder.files(), folder.checkpoints.ids()]).toEqual([[], []]);
});

it('an entry of one kind is not found as the other, and stays', async () => {
  const store = await folder.open();
  await store.keepCheckpoint('ann', key(1), [], making('state'));
  await store.keepBlock({ userId: 'ann', key: key(2), tokens: 7, memoryIds: [] }, Buffer.from('state'));
  expect(await store.findBlock('ann', key(1))).toBeUndefined();
  expect(await store.findCheckpoint('ann', key(2))).toBeUndefined();
  expect(store.stats()).toMatchObject({ misses: 2, rejected: 0, entries: 2, sizeBytes: 10 });
  expect(await store.findCheckpoint('ann', key(1))).toMatchObject({ bytes: 5 });
  expect(await store.findBlock('ann', key(2))).toMatchObject({ tokens: 7 });
});

it.each(['forgetMemory', 'clear'] as const)('%s deletes what was being made as it was called', async (method) => {
  const store = await folder.open();
  const kept = store.keepCheckpoint('ann', key(1), ['m1'], async (id) => {
    await wait(30);
    return folder.checkpoints.make(id, 'state');
  });
  const forgotten = method === 'clear' ? store.clear() : store.forgetMemory('ann', 'm1');
  await Promise.all([kept, forgotten]);
  expect([folder.files(), folder.checkpoints.ids()]).toEqual([[], []]);
  expect(store.stats()).toMatchObject({ entries: 0 });
});

it('bytes are deleted even if only the record is left', async () => {
  const store = await folder.open();
  await store.keepCheckpoint('ann', key(1), ['m1'], making('state'));
  const record = folder.record(key(1));
  expect(JSON.parse(readFileSync(record, 'utf8'))).toMatchObject({ kind: 'checkpoint', memoryIds: ['m1'] });
  for (const path of folder.files()) if (path !== record) rmSync(path);
  expect(await store.forgetMemory('ann', 'm1')).toBe(1);
  expect([folder.files(), folder.checkpoints.ids()]).toEqual([[], []]);
});
