import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { kvKinds, StoreFolder, testKey as key } from '../../test/fixtures/store-folder.ts';
import { KvStore } from './kv-disk-store.ts';

const folder = new StoreFolder();

describe.each(kvKinds(folder))('a store of $kind', ({ keep, find }) => {
  it('finds stored KV for its user only, and counts hits and misses', async () => {
    const store = await folder.open();
    expect(await find(store, 'ann', key(1))).toBeUndefined();
    await keep(store, 'ann', key(1), 'state of ann', 7, ['m1']);
    expect(await find(store, 'ann', key(1))).toBe('state of ann');
    expect(await find(store, 'bob', key(1))).toBeUndefined();
    expect(folder.files()).toHaveLength(2);
    for (const path of folder.files()) expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(folder.record(key(1)))).mode & 0o777).toBe(0o700);
    expect(store.stats()).toMatchObject({ hits: 1, misses: 2, entries: 1, sizeBytes: 12, maxBytes: 1000 });
  });

  it('forgets all KV of one user that contains a memory', async () => {
    const store = await folder.open();
    await keep(store, 'ann', key(1), 'with m1', 7, ['m1', 'm2']);
    await keep(store, 'ann', key(2), 'without', 7, ['m2']);
    await keep(store, 'bob', key(1), 'of bob', 7, ['m1']);
    expect(await store.forgetMemory('ann', 'm1')).toBe(1);
    expect(await find(store, 'ann', key(1))).toBeUndefined();
    expect(await find(store, 'ann', key(2))).toBe('without');
    expect(await find(store, 'bob', key(1))).toBe('of bob');
    expect(folder.files()).toHaveLength(4);
  });

  it('evicts cheap and long unused entries, down to the bound', async () => {
    const store = await folder.open(25);
    await keep(store, 'ann', key(1), 'ten bytes!', 1000);
    await keep(store, 'ann', key(2), 'ten bytes!', 1);
    await keep(store, 'ann', key(3), 'ten bytes!', 500);
    expect(store.stats()).toMatchObject({ evicted: 1, entries: 2, sizeBytes: 20 });
    expect(await find(store, 'ann', key(2))).toBeUndefined();
    expect(await find(store, 'ann', key(1))).toBe('ten bytes!');
  });

  it('finds entries that another process stored', async () => {
    await keep(await folder.open(), 'ann', key(1), 'state', 7, ['m1']);
    const store = await folder.open();
    expect(store.stats()).toMatchObject({ entries: 1, sizeBytes: 5, hits: 0 });
    expect(await find(store, 'ann', key(1))).toBe('state');
  });

  it.each([
    ['empty', () => ''],
    ['cut', (text: string) => text.slice(0, -3)],
    ['changed', (text: string) => text.replace('"tokens":7', '"tokens":8')],
    ['of another memory', (text: string) => text.replace('"m1"', '"m2"')],
    ['of another key', (text: string) => text.replace(key(1), key(2))],
  ])('rejects a record that is %s, once, and deletes all of it', async (_damage, damage) => {
    const store = await folder.open();
    await keep(store, 'ann', key(1), 'state', 7, ['m1']);
    writeFileSync(folder.record(key(1)), damage(readFileSync(folder.record(key(1)), 'utf8')));
    expect(await find(store, 'ann', key(1))).toBeUndefined();
    expect(store.stats()).toMatchObject({ rejected: 1, misses: 1, hits: 0, entries: 0, sizeBytes: 0 });
    expect(await find(store, 'ann', key(1))).toBeUndefined();
    expect(store.stats()).toMatchObject({ rejected: 1, misses: 2 });
    expect([folder.files(), folder.checkpoints.ids()]).toEqual([[], []]);
  });

  it('leaves foreign files alone', async () => {
    const store = await folder.open();
    await keep(store, 'ann', key(1), 'state', 7, ['m1']);
    const strangers = ['.DS_Store', 'notes.json', 'core'].map((name) => join(dirname(folder.record(key(1))), name));
    strangers.forEach((path) => (path.endsWith('.json') ? mkdirSync(path) : writeFileSync(path, '')));
    const next = await folder.open();
    expect(await find(next, 'ann', key(1))).toBe('state');
    await next.clear();
    expect(folder.files().sort()).toEqual(strangers.filter((path) => !path.endsWith('core')).sort());
    expect([next.stats().entries, folder.checkpoints.ids()]).toEqual([0, []]);
  });

  it('never uses user text as a file name', async () => {
    const store = await folder.open();
    await expect(find(store, 'ann', '../../etc/passwd')).rejects.toThrow('"../../etc/passwd" is not a KV key');
    await expect(keep(store, 'ann', '../../etc/passwd', '')).rejects.toThrow(RangeError);
    expect(await find(store, '../../etc', key(1))).toBeUndefined();
  });

  it.each([
    ['a file', (path: string) => writeFileSync(path, '')],
    ['a link that leads nowhere', (path: string) => symlinkSync('nowhere', path)],
  ])('says so where the folder of a user has become %s, and goes on for the others', async (what, make) => {
    const store = await folder.open();
    await keep(store, 'ann', key(1), 'state', 7, ['m1']);
    const place = dirname(folder.record(key(1)));
    rmSync(place, { recursive: true });
    make(place);
    const found = find(store, 'ann', key(1));
    if (what === 'a file') await expect(found).rejects.toThrow('cannot be read: ENOTDIR');
    else expect(await found).toBeUndefined();
    await expect(keep(store, 'ann', key(1), 'state')).rejects.toMatchObject({ code: 'disk' });
    await keep(store, 'bob', key(1), 'state');
    expect(await find(store, 'bob', key(1))).toBe('state');
  });
});

describe.each(kvKinds(folder))('two stores of $kind on one folder', ({ keep, find }) => {
  it('find what the other has stored since, and count what it has deleted as missing, not as damaged', async () => {
    const [a, b] = [await folder.open(), await folder.open()];
    await keep(a, 'ann', key(1), 'of a', 7, ['m1']);
    expect(await find(b, 'ann', key(1))).toBe('of a');
    expect(await a.forgetMemory('ann', 'm1')).toBe(1);
    expect(await find(b, 'ann', key(1))).toBeUndefined();
    expect(b.stats()).toMatchObject({ hits: 1, misses: 1, rejected: 0, entries: 0 });
  });

  it('find the newer entry if the other replaced one, and leave one copy', async () => {
    const [a, b] = [await folder.open(), await folder.open()];
    await keep(a, 'ann', key(1), 'older', 7, ['m1']);
    await keep(b, 'ann', key(1), 'newer', 9, ['m1']);
    expect(await find(a, 'ann', key(1))).toBe('newer');
    expect(a.stats()).toMatchObject({ rejected: 0, entries: 1, sizeBytes: 5 });
    expect(folder.files()).toHaveLength(2);
    expect(folder.checkpoints.ids().length).toBeLessThanOrEqual(1);
  });

  it('forget what the other stored', async () => {
    const [a, b] = [await folder.open(), await folder.open()];
    await keep(a, 'ann', key(1), 'ten bytes!', 7, ['m1']);
    expect(await b.forgetMemory('ann', 'm1')).toBe(1);
    expect([folder.files(), folder.checkpoints.ids()]).toEqual([[], []]);
  });

  it('stay within one bound together, over all users', async () => {
    const [a, b] = [await folder.open(45), await folder.open(45)];
    for (const user of ['ann', 'bob', 'eve']) {
      await keep(a, user, key(1), 'ten bytes!');
      await keep(b, user, key(2), 'ten bytes!');
    }
    expect(a.stats().evicted + b.stats().evicted).toBe(2);
    expect(folder.files()).toHaveLength(8);
    // What the other kept last is no older than what it kept itself.
    expect(await find(b, 'eve', key(1))).toBe('ten bytes!');
    expect(await find(b, 'ann', key(1))).toBeUndefined();
  });
});

it('the error names the folder that cannot be used, and why', async () => {
  writeFileSync(join(folder.path, 'file'), '');
  symlinkSync('nowhere', join(folder.path, 'dangling'));
  for (const [name, code] of Object.entries({ file: 'EEXIST', 'file/below': 'ENOTDIR', dangling: 'ENOENT' })) {
    const path = join(folder.path, name);
    const opened = KvStore.open(path, 1, folder.checkpoints);
    await expect(opened).rejects.toThrow(`${path}: cannot keep KV states there: ${code}`);
  }
});
