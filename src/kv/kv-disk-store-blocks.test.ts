import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { type KvKind, kvKinds, StoreFolder, testKey as key } from '../../test/fixtures/store-folder.ts';
import { hostInFileName } from '../base/is-process-running.ts';

const folder = new StoreFolder();

const [{ keep, find }] = kvKinds(folder) as [KvKind];

it.each([
  ['cut', (path: string) => truncateSync(path, 3)],
  ['changed', (path: string) => writeFileSync(path, 'stAte')],
  ['grown', (path: string) => writeFileSync(path, 'state ')],
  ['gone', (path: string) => rmSync(path)],
])('rejects bytes that were %s, once, and deletes them', async (_, damage) => {
  const store = await folder.open();
  await keep(store, 'ann', key(1), 'state');
  damage(folder.files().find((path) => path.endsWith('.block'))!);
  expect(await store.findBlock('ann', key(1))).toBeUndefined();
  expect(store.stats()).toMatchObject({ rejected: 1, misses: 1, hits: 0, entries: 0 });
  expect(folder.files()).toEqual([]);
});

it.each([
  ['of another user', 'bob', 1],
  ['of another key', 'ann', 2],
])('rejects one %s that was put in its place, record and all', async (_, userId, other) => {
  const store = await folder.open();
  await keep(store, 'ann', key(1), 'mine');
  const place = dirname(folder.record(key(1)));
  await keep(store, userId, key(other), 'theirs');
  const foreign = folder.files().filter((path) => !path.startsWith(join(place, key(1))));
  expect(foreign).toHaveLength(2);
  for (const path of foreign) {
    const name = path.slice(dirname(path).length + 1).replace(key(other), key(1));
    writeFileSync(join(place, name), readFileSync(path, 'utf8').replace(key(other), key(1)));
  }
  expect(await store.findBlock('ann', key(1))).toBeUndefined();
  expect(store.stats()).toMatchObject({ rejected: 1, hits: 0 });
  expect(readdirSync(place).filter((file) => file.startsWith(key(1)))).toEqual([]);
});

it('deletes unfinished files of killed processes, but not of running ones', async () => {
  await keep(await folder.open(), 'ann', key(1), 'state');
  const place = dirname(folder.record(key(1)));
  const killed = spawnSync('true').pid;
  const living = [`${key(3)}.0123456789abcdef.block`, `${key(3)}.json.x.${hostInFileName}-1.new`];
  const dead = [`${key(2)}.block.x.${hostInFileName}-${killed}.new`, `${key(2)}.0123456789abcdef.block`];
  for (const file of [...living, ...dead]) writeFileSync(join(place, file), 'half');
  const store = await folder.open();
  expect(await find(store, 'ann', key(1))).toBe('state');
  expect(await store.findBlock('ann', key(2))).toBeUndefined();
  // Process 1 still runs, and may be writing.
  const left = folder.files().filter((name) => !name.includes(key(1)));
  expect(left.map((name) => name.slice(place.length + 1)).sort()).toEqual(living);
});
