import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';
import { folderOfEachTest } from '../../../../test/fixtures/folder-of-each-test.ts';
import { selfTestsIn } from './self-test-store.ts';

const folder = folderOfEachTest();
afterEach(() => vi.unstubAllEnvs());
const engine = {
  engine: 'llama-cpp',
  build: { 'llama.cpp': 'b1' },
  modelSha256: 'a'.repeat(64),
  stateIdentity: 'model a, F16',
  threads: 2,
  compute: null,
  contextTokens: 4096,
};
const prompts = [{ prompt: [1, 2, 3, 4], continuation: [5] }];
const tests = {
  parity: { prompts: 4, cuts: 12, bitwiseEqual: true, largestDifference: 0 },
  cells: { missing: 'none' },
};
const store = (options: { fresh?: boolean; program?: string } = {}) =>
  selfTestsIn(folder.file('self-tests'), { program: 'p1', ...options });
const files = () => readdirSync(folder.file('self-tests'));

it('finds a result for the same model, settings, prompts, build, threads and program only, and says when it was made', () => {
  const before = Date.now();
  store().keep(engine, prompts, tests);
  expect(store().find(engine, prompts)).toMatchObject({ tests });
  expect(store().find(engine, prompts)!.testedAt).toBeGreaterThanOrEqual(before);
  const others = [
    { modelSha256: 'b'.repeat(64) },
    { stateIdentity: 'model a, Q8_0' },
    { threads: 1 },
    { build: { 'llama.cpp': 'b2' } },
    { contextTokens: 512 },
  ];
  for (const change of others) expect(store().find({ ...engine, ...change }, prompts)).toBeUndefined();
  expect(store().find(engine, [{ prompt: [1, 2, 3, 9], continuation: [5] }])).toBeUndefined();
  expect(store({ program: 'p2' }).find(engine, prompts)).toBeUndefined();
});

it('finds no result of other KV kernels', async () => {
  const storeWith = async (kernels: string) => {
    vi.stubEnv('DKI_BENCH_KV_KERNELS', kernels);
    vi.resetModules();
    const fresh = await import('./self-test-store.ts');
    return fresh.selfTestsIn(folder.file('self-tests'));
  };
  (await storeWith('')).keep(engine, prompts, tests);
  expect((await storeWith('')).find(engine, prompts)).toMatchObject({ tests });
  expect((await storeWith('wasm')).find(engine, prompts)).toBeUndefined();
});

it('keeps one file a model, which another program replaces, and leaves no half-written one', () => {
  store().keep(engine, prompts, tests);
  store({ program: 'p2' }).keep(engine, prompts, { parity: { ...tests.parity, prompts: 20 } });
  expect(files()).toHaveLength(1);
  expect(store({ program: 'p2' }).find(engine, prompts)!.tests).toEqual({ parity: { ...tests.parity, prompts: 20 } });
});

it('finds nothing if a fresh test is wanted, and replaces what is stored', () => {
  store().keep(engine, prompts, tests);
  expect(store({ fresh: true }).find(engine, prompts)).toBeUndefined();
  store({ fresh: true }).keep(engine, prompts, { parity: tests.parity });
  expect(store().find(engine, prompts)!.tests).toEqual({ parity: tests.parity });
});

it.each([
  ['cut', (text: string) => text.slice(0, -20)],
  ['empty', () => ''],
  ['of another shape', (text: string) => text.replace('"cuts":12', '"cuts":"many"')],
])('a file that is %s counts as none, and is written again', (_, damage) => {
  store().keep(engine, prompts, tests);
  const [name] = files();
  const path = folder.file(`self-tests/${name!}`);
  writeFileSync(path, damage(readFileSync(path, 'utf8')));
  expect(store().find(engine, prompts)).toBeUndefined();
  store().keep(engine, prompts, tests);
  expect(store().find(engine, prompts)).toMatchObject({ tests });
});

it('stores nothing for a server, whose threads are unknown, and ignores a folder that cannot be written', () => {
  store().keep({ ...engine, threads: null }, prompts, tests);
  expect(readdirSync(folder.path)).toEqual([]);
  writeFileSync(folder.file('self-tests'), 'a file in its place');
  store().keep(engine, prompts, tests);
  expect(store().find(engine, prompts)).toBeUndefined();
});

it('treats a folder in the place of its file as no result, and replaces it', () => {
  store().keep(engine, prompts, tests);
  const [name] = files();
  const other = selfTestsIn(folder.file('other'), { program: 'p1' });
  mkdirSync(folder.file(`other/${name!}`), { recursive: true });
  expect(other.find(engine, prompts)).toBeUndefined();
  other.keep(engine, prompts, tests);
  expect(other.find(engine, prompts)).toMatchObject({ tests });
});
