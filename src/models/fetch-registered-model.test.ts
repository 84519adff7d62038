import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, it, vi } from 'vitest';
import { expectFailure } from '../../test/fixtures/bench-failure.ts';
import { HubServer } from '../../test/fixtures/hub-server.ts';
import { embedderEntry, modelCache, modelEntry, sha256 } from '../../test/fixtures/model-cache.ts';
import { fetchRegisteredModel } from './fetch-registered-model.ts';
import { cacheState, modelFiles } from './model-file-cache.ts';
import type { DownloadProgress } from './hub/download-file.ts';

const NOWHERE = 'http://127.0.0.1:9';
const cache = modelCache();
const use = (hub: string): void => void vi.stubEnv('HF_ENDPOINT', hub);
beforeEach(() => use(NOWHERE));

const weights = randomBytes(3_000_000);
const config = Buffer.from('{"hidden_size": 384}');
const model = modelEntry(weights);
const embedder = embedderEntry({ 'config.json': config, 'onnx/model.onnx': weights });
const hubFiles = { 'org/tiny/abc/q4/tiny.gguf': weights, 'org/small/abc/config.json': config };

it('fetches a model from its hub once, and continues after a broken connection', async () => {
  await using hub = await HubServer.start(hubFiles, { breaksAfterBytes: [2_000_000] });
  const seen: DownloadProgress[] = [];
  use(hub.endpoint);
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

it('keeps what the hub has of an embedder, and says which files it lacks', async () => {
  await using hub = await HubServer.start(hubFiles);
  use(hub.endpoint);
  const lacking = /^small could not be fetched \(onnx\/model\.onnx\): small: the hub has no onnx\/model\.onnx/;
  await expectFailure(fetchRegisteredModel(embedder), 'network', lacking, /scripts\/real-models\.sh small/);
  expect(cacheState(embedder)).toBe('in part');
  expect(cache.names()).toEqual(['config.json']);
});

it('asks no hub for a file that none is known to have', async () => {
  await using hub = await HubServer.start(hubFiles);
  use(hub.endpoint);
  const foreign = {
    ...embedder,
    files: embedder.files.map((file) => ({ ...file, onHub: file.path === 'config.json' })),
  };
  await expectFailure(fetchRegisteredModel(foreign), 'network', /\(onnx\/model\.onnx\): small: the hub has no onnx/);
  expect(hub.requests.filter(({ path }) => path.includes('onnx'))).toEqual([]);
  expect(cache.names()).toEqual(['config.json']);
});

it('does not fetch other bytes from the hub', async () => {
  await using hub = await HubServer.start({ 'org/tiny/abc/q4/tiny.gguf': randomBytes(weights.length) });
  use(hub.endpoint);
  const reason = /^tiny could not .*: the hub has other bytes than the registry states$/;
  await expectFailure(fetchRegisteredModel(model), 'network', reason);
  expect(hub.requests.filter(({ method }) => method === 'GET')).toEqual([]);
  expect(cache.names()).toEqual([]);
});

it('refuses small files of the hub, whose tag is no sha-256, after their transfer', async () => {
  await using hub = await HubServer.start({ 'org/small/abc/config.json': Buffer.from('{"hidden_size": 385}') });
  use(hub.endpoint);
  const failing = fetchRegisteredModel(embedder);
  await expect(failing).rejects.toThrow(/config\.json, onnx\/model\.onnx\): .*damaged in transfer: its sha-256 is/);
  expect(cache.names()).toEqual([]);
});

it('names the hub and the fix if it cannot be reached', async () => {
  const unreached = /127\.0\.0\.1:9 cannot be reached/;
  await expectFailure(fetchRegisteredModel(model), 'network', unreached, /scripts\/real-models\.sh tiny/);
});

it('refuses a cached file with other bytes', async () => {
  await using hub = await HubServer.start(hubFiles);
  use(hub.endpoint);
  await fetchRegisteredModel(model);
  writeFileSync(modelFiles(model)[0]!.path, randomBytes(weights.length));
  const hint = 'delete it with dki-bench models remove tiny, and fetch or import it again';
  await expectFailure(fetchRegisteredModel(model), 'bad-model', /./, hint);
});
