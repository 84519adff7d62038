import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { expectFailure } from '../../test/fixtures/bench-failure.ts';
import { HubServer } from '../../test/fixtures/hub-server.ts';
import { TestFolder } from '../../test/model/bench-fixture.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { datasetOffer, type DatasetOffer, fetchDataset } from './fetch-dataset.ts';
import type { DownloadProgress } from '../models/hub/download-file.ts';

const questions = ['Turin', 'Lima', 'Oslo'].map((city) => ({
  question: `Who lives in ${city}?`,
  answers: ['the smith'],
  ctxs: [{ title: city, text: `The smith. ${'A baker passed by. '.repeat(1000)}` }],
}));
const file = Buffer.from(JSON.stringify(questions));
const sha256 = createHash('sha256').update(file).digest('hex');
const name = 'org/repo/main/data.json';

let folder: TestFolder;
let server: HubServer;
beforeEach(async () => {
  folder = new TestFolder();
  server = await HubServer.start({ [name]: file });
  return async () => {
    folder[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  };
});

const environment = () => ({ DKI_BENCH_CACHE: folder.path });
const offer = ({ endpoint } = server): DatasetOffer =>
  datasetOffer('musique-s', `${endpoint}/org/repo/resolve/main/data.json`, environment());
const kept = (): string[] => readdirSync(folder.file('data')).sort();

describe('a public data set', () => {
  it('is fetched once, its hash recorded, and found without --data-file', async () => {
    const seen: DownloadProgress[] = [];
    const fetched = await fetchDataset(offer(), { onProgress: (progress) => seen.push(progress) });
    const path = folder.file('data/musique-s.json');
    expect(fetched).toEqual({ name: 'musique-s', path, sha256, hash: 'recorded', users: 3, items: 3 });
    expect(kept()).toEqual(['musique-s.json', 'musique-s.json.sha256']);
    expect(readFileSync(path).equals(file)).toBe(true);
    expect(seen.at(-1)).toEqual({ name: 'musique-s', doneBytes: file.length, totalBytes: file.length });
    const found = { flags: { dataset: 'musique-s' }, environment: environment(), workingFolder: folder.path };
    expect(loadBenchConfig(found).dataFile).toEqual({ 'musique-s': path });
    const { length } = server.requests;
    expect(await fetchDataset(offer())).toMatchObject({ hash: 'as before', sha256 });
    expect(server.requests).toHaveLength(length);
  });

  it('continues in the next call after ^C', async () => {
    server.faults = { hangsAfterBytes: 30_000 };
    const stop = new AbortController();
    const onProgress = ({ doneBytes }: DownloadProgress) => doneBytes >= 20_000 && stop.abort(new Error('enough'));
    await expect(fetchDataset(offer(), { signal: stop.signal, onProgress })).rejects.toThrow('enough');
    expect(kept()).toEqual([expect.stringMatching(/\.partial$/)]);
    server.faults = {};
    expect(await fetchDataset(offer())).toMatchObject({ sha256, hash: 'recorded' });
    expect(server.requests.at(-1)?.range).toMatch(/^bytes=[1-9]/);
  });

  it('that differs from its first fetch is refused, both at the source and on disk', async () => {
    await fetchDataset(offer());
    const path = folder.file('data/musique-s.json');
    writeFileSync(path, JSON.stringify(questions.slice(1)));
    const changed = /was changed since its first fetch: sha256 [0-9a-f]{64}, before [0-9a-f]{64}$/;
    await expectFailure(fetchDataset(offer()), 'bad-data', changed);
    rmSync(path);
    await using other = await HubServer.start({ [name]: Buffer.from(JSON.stringify(questions.slice(2))) });
    const another = /musique-s differs from the first fetch/;
    await expectFailure(fetchDataset(offer(other)), 'bad-data', another, /delete \S+\/data\/musique-s\.json\.sha256/);
    expect(kept()).toEqual(['musique-s.json.sha256']);
  });

  it('that is something else is refused, and leaves nothing behind', async () => {
    await using page = await HubServer.start({ [name]: Buffer.from('<html>Not found</html>') });
    const none = /data\.json: the file is not musique-s: .*is not JSON/;
    await expectFailure(fetchDataset(offer(page)), 'bad-data', none);
    expect(kept()).toEqual([]);
    const missing = { ...offer(), address: `${server.endpoint}/org/repo/resolve/main/no.json` };
    await expectFailure(fetchDataset(missing), 'not-found', `${missing.address}: the server answered 404`);
    expect(existsSync(missing.path)).toBe(false);
  });
});

describe('the address of a public data set', () => {
  it('is the published one, or one that is given', () => {
    expect(datasetOffer('locomo', undefined)).toMatchObject({
      address: expect.stringMatching(/^https:\/\/.*locomo10\.json$/),
      licence: 'CC BY-NC 4.0',
      isFetched: expect.any(Boolean),
    });
    expect(datasetOffer('longmemeval', 'https://example.org/a.json')).toMatchObject({ licence: 'MIT' });
  });

  it.each([
    [undefined, 'longmemeval: is not published as one file'],
    ['file:///etc/passwd', '--address: expected a web address'],
    ['https://me:secret@example.org/a.json', '--address: expected a web address'],
    ['a.json', '--address: expected a web address'],
  ])('%s is refused for longmemeval', (address, message) => {
    expect(() => datasetOffer('longmemeval', address)).toThrow(message);
  });
});
