import { createHash, pbkdf2, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { HubServer } from '../../../test/fixtures/hub-server.ts';
import { TestFolder } from '../../../test/model/bench-fixture.ts';
import { type DownloadProgress, hubFile } from './hub-file.ts';
import { hubAccess, type HubAccess, parseHubReference } from './hub-reference.ts';

const large = randomBytes(3_000_000);
const files = { 'org/repo/main/q8/model.gguf': large, 'org/repo/main/config.json': Buffer.from('{}') };
const repository = parseHubReference('hf:org/repo');

function access(endpoint: string, folder: TestFolder): HubAccess {
  return hubAccess({ HF_ENDPOINT: endpoint, XDG_CACHE_HOME: folder.path });
}

function kept(folder: TestFolder): string[] {
  const names = readdirSync(folder.path, { recursive: true, withFileTypes: true });
  return names.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

describe('a hub that does not keep to what it states', () => {
  it('is not listened to beyond the size of the file, and what had come is deleted', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files, { addsBytes: 2_000_000 });
    const seen: DownloadProgress[] = [];
    const options = { onProgress: (progress: DownloadProgress) => seen.push(progress) };
    const fetched = hubFile(repository, 'q8/model.gguf', access(server.endpoint, folder), options);
    await expect(fetched).rejects.toMatchObject({
      code: 'bad-data',
      message: expect.stringMatching(
        /: sends more than the 3000000 bytes that it stated; what had come was deleted$/,
      ) as string,
    });
    expect(kept(folder)).toEqual([]);
    expect(Math.max(...seen.map(({ doneBytes }) => doneBytes))).toBeLessThanOrEqual(3_000_000);
  });

  it.each([
    ['another part', 'bytes 5-2999999/3000000'],
    ['a part of another file', 'bytes 1000000-4999999/5000000'],
    ['a part without a name', ''],
  ])('is refused where it sends %s, and asked no more', async (_, contentRange) => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files, { contentRange });
    const models = join(folder.path, 'dki-bench/models/org/repo/q8');
    mkdirSync(models, { recursive: true });
    const tag = createHash('sha256').update(large).digest('hex').slice(0, 16);
    writeFileSync(join(models, `model.gguf.${tag}.partial`), large.subarray(0, 1_000_000));
    await expect(hubFile(repository, 'q8/model.gguf', access(server.endpoint, folder))).rejects.toMatchObject({
      code: 'bad-data',
      message: expect.stringContaining('asked for the bytes from 1000000 of 3000000, the server sends "') as string,
    });
    const asked = server.requests.filter(({ server: name, range }) => name === 'files' && range !== undefined);
    expect(asked).toHaveLength(1);
  });

  it('is given up where every answer brings a few bytes', async () => {
    using folder = new TestFolder();
    const crumbs = { breaksAfterBytes: Array.from({ length: 1000 }, () => 10) };
    await using server = await HubServer.start({ 'org/repo/main/vocab.json': randomBytes(5_000) }, crumbs);
    await expect(hubFile(repository, 'vocab.json', access(server.endpoint, folder))).rejects.toMatchObject({
      code: 'network',
    });
    const [described, ...answers] = server.requests.map(({ range }) => range);
    expect([described, answers[0], answers.at(-1)]).toEqual([undefined, undefined, 'bytes=1990-']);
    expect(answers).toHaveLength(200);
  });

  it('loses none of what had come when the line broke, however long the disk takes', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files, { breaksAfterBytes: [30_000] });
    // Nothing is written while the threads that write do something else.
    const slow = Array.from({ length: 8 }, () => promisify(pbkdf2)('', '', 50_000, 64, 'sha512'));
    const path = await hubFile(repository, 'q8/model.gguf', access(server.endpoint, folder));
    await Promise.all(slow);
    expect(readFileSync(path!).equals(large)).toBe(true);
    expect(server.requests.at(-1)).toMatchObject({ server: 'files', range: 'bytes=30000-' });
  });

  it('is given up where it falls silent, and asked again where something had come', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files, { hangsAfterBytes: 1_000_000 });
    const hub = access(server.endpoint, folder);
    const path = await hubFile(repository, 'q8/model.gguf', hub, { idleMs: 500 });
    expect(readFileSync(path!).equals(large)).toBe(true);
    const ranges = server.requests.filter(({ server: name }) => name === 'files').map(({ range }) => range);
    expect(ranges).toEqual([undefined, 'bytes=1000000-', 'bytes=2000000-']);
    server.faults = { isSilent: true };
    await expect(hubFile(repository, 'config.json', hub, { idleMs: 500 })).rejects.toMatchObject({
      code: 'network',
      message: expect.stringMatching(/^127\.0\.0\.1:\d+ sent nothing for 0\.5 s$/) as string,
      hint: expect.stringContaining('run it again') as string,
    });
  });

  it('is told from one that gives files where it sends a web page', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files, { sendsPages: true });
    await expect(hubFile(repository, 'config.json', access(server.endpoint, folder))).rejects.toMatchObject({
      code: 'network',
      message: expect.stringMatching(/config\.json: the server sends a web page in place of the file$/) as string,
    });
    expect(kept(folder).filter((name) => !name.endsWith('.partial'))).toEqual([]);
  });
});
