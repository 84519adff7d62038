import { execFile, spawnSync } from 'node:child_process';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
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

function recordOf(statePath: string, stateKeyOfIt: string): string {
  return join(dirname(statePath), `${stateKeyOfIt}.json`);
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

  it('takes over what another process kept, and deletes what a killed one left half-written', async () => {
    await new StateStore(root, 1000).keep('ann', key(1), 7, ['m1'], save('state'));
    const folder = join(root, readdirSync(root)[0]!);
    const killed = spawnSync('true').pid;
    for (const file of [
      `${key(2)}.state.x.${killed}.new`,
      `${key(2)}.0123456789abcdef.state`,
      `${key(3)}.json.x.1.new`,
    ]) {
      writeFileSync(join(folder, file), 'half');
    }
    const store = new StateStore(root, 1000);
    expect(store.find('ann', key(1))).toMatchObject({ tokens: 7 });
    expect(store.find('ann', key(2))).toBeUndefined();
    // Process 1 still runs, and may be writing.
    expect(filesIn(root).filter((name) => !name.includes(key(1)))).toEqual([expect.stringContaining(key(3))]);
  });

  it.each([
    ['of another user', 'bob', key(1)],
    ['of another key', 'ann', key(2)],
  ])('rejects a state %s that was put in its place, record and all', async (_, userId, other) => {
    const store = new StateStore(root, 1000);
    const { path } = await store.keep('ann', key(1), 7, [], save('mine'));
    const foreign = await store.keep(userId, other, 7, [], save('theirs'));
    const record = JSON.parse(readFileSync(recordOf(foreign.path, other), 'utf8')) as { fingerprint: string };
    const name = `${key(1)}.${record.fingerprint.slice(0, 16)}.state`;
    writeFileSync(join(dirname(path), name), 'theirs');
    writeFileSync(recordOf(path, key(1)), JSON.stringify({ ...record, key: key(1) }));
    expect(store.find('ann', key(1))).toBeUndefined();
    expect(store.stats()).toMatchObject({ rejected: 1, hits: 0 });
    expect(readdirSync(dirname(path)).filter((file) => file.startsWith(key(1)))).toEqual([]);
  });

  it('leaves nothing behind where saving fails', async () => {
    const store = new StateStore(root, 1000);
    const failing = store.keep('ann', key(1), 7, [], () => Promise.reject(new Error('no space left on device')));
    await expect(failing).rejects.toThrow('a K/V state could not be written');
    expect(filesIn(root)).toEqual([]);
  });

  it('never takes a text for the name of a file', () => {
    const store = new StateStore(root, 1000);
    expect(() => store.find('ann', '../../etc/passwd')).toThrow('"../../etc/passwd" is no key of a state');
    expect(store.find('../../etc', key(1))).toBeUndefined();
  });

  it('names the folder that cannot be used, and why', () => {
    writeFileSync(join(root, 'file'), '');
    symlinkSync('nowhere', join(root, 'dangling'));
    const open = (path: string): StateStore => new StateStore(join(root, path), 1);
    expect(() => open('file')).toThrow(`${join(root, 'file')}: cannot keep K/V states there: EEXIST`);
    expect(() => open('file/below')).toThrow(`${join(root, 'file/below')}: cannot keep K/V states there: ENOTDIR`);
    expect(() => open('dangling')).toThrow(`${join(root, 'dangling')}: cannot keep K/V states there: ENOENT`);
  });

  it.each([
    ['a file', (path: string) => writeFileSync(path, ''), 'ENOTDIR'],
    ['a link that leads nowhere', (path: string) => symlinkSync('nowhere', path), 'ENOENT'],
  ])('says so where the folder of a user has become %s, and goes on for the others', async (_, put, reason) => {
    const store = new StateStore(root, 1000);
    const { path } = await store.keep('ann', key(1), 7, ['m1'], save('state'));
    rmSync(dirname(path), { recursive: true });
    put(dirname(path));
    if (reason === 'ENOTDIR') expect(() => store.find('ann', key(1))).toThrow(`cannot be read: ${reason}`);
    else expect(store.find('ann', key(1))).toBeUndefined();
    await expect(store.keep('ann', key(1), 7, [], save('state'))).rejects.toMatchObject({ code: 'disk' });
    await store.keep('bob', key(1), 7, [], save('state'));
    expect(store.find('bob', key(1))).toMatchObject({ sizeBytes: 5 });
  });
});

describe('two stores on one folder', () => {
  it('find what the other kept since, and miss what the other deleted, without counting it as damage', async () => {
    const [a, b] = [new StateStore(root, 1000), new StateStore(root, 1000)];
    await a.keep('ann', key(1), 7, ['m1'], save('of a'));
    expect(readFileSync(b.find('ann', key(1))!.path, 'utf8')).toBe('of a');
    expect(a.forgetMemory('ann', 'm1')).toBe(1);
    expect(b.find('ann', key(1))).toBeUndefined();
    expect(b.stats()).toMatchObject({ hits: 1, misses: 1, rejected: 0, entries: 0 });
  });

  it('find the newer state where the other replaced one, and leave one copy', async () => {
    const [a, b] = [new StateStore(root, 1000), new StateStore(root, 1000)];
    await a.keep('ann', key(1), 7, ['m1'], save('older'));
    await b.keep('ann', key(1), 9, ['m1'], save('newer'));
    const found = a.find('ann', key(1))!;
    expect(found.tokens).toBe(9);
    expect(readFileSync(found.path, 'utf8')).toBe('newer');
    expect(a.stats()).toMatchObject({ rejected: 0, entries: 1 });
    expect(filesIn(root)).toHaveLength(2);
  });

  it('forget what the other kept, and keep within the bound together', async () => {
    const [a, b] = [new StateStore(root, 25), new StateStore(root, 25)];
    await a.keep('ann', key(1), 7, ['m1'], save('ten bytes!'));
    expect(b.forgetMemory('ann', 'm1')).toBe(1);
    expect(filesIn(root)).toEqual([]);
    await a.keep('ann', key(1), 7, [], save('ten bytes!'));
    await a.keep('ann', key(2), 9, [], save('ten bytes!'));
    await b.keep('ann', key(3), 9, [], save('ten bytes!'));
    expect(b.stats()).toMatchObject({ evicted: 1, sizeBytes: 20 });
    expect(filesIn(root)).toHaveLength(4);
    expect(a.find('ann', key(1))).toBeUndefined();
  });

  it('keep within the bound together, whoever they keep for', async () => {
    const [a, b] = [new StateStore(root, 45), new StateStore(root, 45)];
    for (const user of ['ann', 'bob', 'eve']) {
      await a.keep(user, key(1), 7, [], save('ten bytes!'));
      await b.keep(user, key(2), 7, [], save('ten bytes!'));
    }
    expect(a.stats().evicted + b.stats().evicted).toBe(2);
    expect(filesIn(root)).toHaveLength(8);
    // What the other kept last is no older than what it kept itself.
    expect(b.find('eve', key(1))).toMatchObject({ sizeBytes: 10 });
    expect(b.find('ann', key(1))).toBeUndefined();
  });

  it('survive each other under load', async () => {
    const script = `
      import { StateStore } from ${JSON.stringify(new URL('./state-store.ts', import.meta.url).href)};
      import { writeFileSync } from 'node:fs';
      const [, , root, seed] = process.argv;
      const store = new StateStore(root, 4000);
      let found = 0;
      for (let turn = 0; turn < 300; turn++) {
        const id = (turn * turn + Number(seed) * 3) % 11;
        const key = id.toString(16).padStart(64, '0');
        const state = store.read('ann', key);
        if (state === undefined) {
          const save = (path) => Promise.resolve(writeFileSync(path, id + ' '.repeat(700)));
          await store.keep('ann', key, 7, ['m' + id], save);
        } else if (++found && !Buffer.from(state.bytes).toString().startsWith(id + ' ')) throw new Error('a foreign state');
        if (turn % 10 === 9) store.forgetMemory('ann', 'm' + id);
      }
      console.log(JSON.stringify({ found, ...store.stats() }));
    `;
    const file = join(root, 'load.mts');
    writeFileSync(file, script);
    const tsx = ['--import', import.meta.resolve('tsx')];
    const run = promisify(execFile);
    const outputs = await Promise.all(
      [1, 2].map((seed) => run(process.execPath, [...tsx, file, join(root, 's'), `${seed}`])),
    );
    for (const { stdout } of outputs) {
      const counts = JSON.parse(stdout) as { readonly found: number; readonly sizeBytes: number };
      expect(counts.found).toBeGreaterThan(0);
      expect(counts.sizeBytes).toBeLessThanOrEqual(4000);
    }
    const left = filesIn(join(root, 's'));
    const bytes = left.filter((name) => name.endsWith('.state')).map((name) => statSync(join(root, 's', name)).size);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(4000);
    expect(left.filter((name) => name.endsWith('.new'))).toEqual([]);
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
