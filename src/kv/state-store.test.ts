import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stateKey } from './state-key.ts';
import { StateStore } from './state-store.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'state-store-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const key = (id: number): string => stateKey({ modelSha256: 'm', contextOptions: {}, template: 't', tokenIds: [id] });

function save(text: string): (path: string) => Promise<void> {
  return (path) => {
    writeFileSync(path, text);
    return Promise.resolve();
  };
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(state|json|new)$/.test(name),
  );
}

describe('StateStore', () => {
  it('gives back what was kept, privately, and counts', async () => {
    const store = new StateStore(root, 1000);
    expect(store.find('ann', key(1))).toBeUndefined();
    await store.keep('ann', key(1), 7, ['m1'], save('state of ann'));
    const found = store.find('ann', key(1));
    expect(readFileSync(found!.path, 'utf8')).toBe('state of ann');
    expect(found).toMatchObject({ sizeBytes: 12, tokens: 7 });
    expect(statSync(found!.path).mode & 0o777).toBe(0o600);
    expect(store.stats()).toMatchObject({ hits: 1, misses: 1, entries: 1, sizeBytes: 12 });
  });

  it('never finds the state of another user', async () => {
    const store = new StateStore(root, 1000);
    await store.keep('ann', key(1), 7, ['m1'], save('state'));
    expect(store.find('bob', key(1))).toBeUndefined();
  });

  it.each([
    ['cut', (path: string) => truncateSync(path, 3)],
    ['changed', (path: string) => writeFileSync(path, 'stAte')],
    ['grown', (path: string) => writeFileSync(path, 'state ')],
    ['gone', (path: string) => rmSync(path)],
  ])('rejects a file that was %s, once, and deletes it', async (_, damage) => {
    const store = new StateStore(root, 1000);
    const { path } = await store.keep('ann', key(1), 7, ['m1'], save('state'));
    damage(path);
    expect(store.find('ann', key(1))).toBeUndefined();
    expect(store.stats()).toMatchObject({ rejected: 1, misses: 1, hits: 0, entries: 0 });
    expect(filesIn(root)).toEqual([]);
  });

  it('forgets every state that contains a memory, of that user alone', async () => {
    const store = new StateStore(root, 1000);
    await store.keep('ann', key(1), 7, ['m1', 'm2'], save('with m1'));
    await store.keep('ann', key(2), 7, ['m2'], save('without'));
    await store.keep('bob', key(1), 7, ['m1'], save('of bob'));
    expect(store.forgetMemory('ann', 'm1')).toBe(1);
    expect(store.find('ann', key(1))).toBeUndefined();
    expect(store.find('ann', key(2))).toMatchObject({ sizeBytes: 7 });
    expect(store.find('bob', key(1))).toMatchObject({ sizeBytes: 6 });
    expect(filesIn(root).some((name) => name.includes(key(1)) && !name.includes('..'))).toBe(true);
    expect(filesIn(root)).toHaveLength(4);
  });

  it('evicts what is cheap and long unused, down to the bound', async () => {
    const store = new StateStore(root, 25);
    await store.keep('ann', key(1), 1000, [], save('ten bytes!'));
    await store.keep('ann', key(2), 1, [], save('ten bytes!'));
    await store.keep('ann', key(3), 500, [], save('ten bytes!'));
    expect(store.stats()).toMatchObject({ evicted: 1, entries: 2, sizeBytes: 20 });
    expect(store.find('ann', key(2))).toBeUndefined();
    expect(store.find('ann', key(1))).toMatchObject({ tokens: 1000 });
  });

  it('takes over what another process kept, and leaves half-written files alone', async () => {
    await new StateStore(root, 1000).keep('ann', key(1), 7, ['m1'], save('state'));
    writeFileSync(join(root, readdirSync(root)[0]!, `${key(2)}.state.99.new`), 'half');
    const store = new StateStore(root, 1000);
    expect(store.find('ann', key(1))).toMatchObject({ tokens: 7 });
    expect(store.find('ann', key(2))).toBeUndefined();
  });

  it('leaves nothing behind where saving fails', async () => {
    const store = new StateStore(root, 1000);
    const failing = store.keep('ann', key(1), 7, [], () => Promise.reject(new Error('no space left on device')));
    await expect(failing).rejects.toThrow('a K/V state could not be written');
    expect(filesIn(root)).toEqual([]);
  });

  it('names the folder that cannot be used', () => {
    writeFileSync(join(root, 'file'), '');
    expect(() => new StateStore(join(root, 'file'), 1)).toThrow(`${join(root, 'file')}: cannot keep K/V states there`);
  });
});

describe('stateKey', () => {
  const identity = { modelSha256: 'm', contextOptions: { flashAttention: false }, template: 't', tokenIds: [1, 2] };

  it.each([
    ['model', { modelSha256: 'n' }],
    ['context options', { contextOptions: { flashAttention: true } }],
    ['template', { template: 'u' }],
    ['tokens', { tokenIds: [1, 3] }],
    ['number of tokens', { tokenIds: [1] }],
  ])('changes with the %s', (_, change) => {
    expect(stateKey({ ...identity, ...change })).not.toBe(stateKey(identity));
    expect(stateKey({ ...identity })).toBe(stateKey(identity));
  });
});
