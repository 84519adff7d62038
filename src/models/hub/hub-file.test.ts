import { createHash, pbkdf2, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, test } from 'vitest';
import { BenchError } from '../../base/bench-error.ts';
import { HubServer } from '../../../test/fixtures/hub-server.ts';
import { startProcess, typescript } from '../../../test/fixtures/run-process.ts';
import { TestFolder } from '../../../test/model/bench-fixture.ts';
import { type DownloadProgress, hubFile } from './hub-file.ts';
import { findHubFile, hubAccess, type HubAccess, removeCachedFile } from './hub-cache.ts';
import { parseHubReference } from './hub-reference.ts';
import { describeRemoteFile } from './remote-file.ts';

const large = randomBytes(3_000_000);
const small = Buffer.from('{"hidden_size": 384}');
const files = { 'org/repo/main/q8/model.gguf': large, 'org/repo/main/config.json': small };
const repository = parseHubReference('hf:org/repo');
const COMMIT = 'c'.repeat(40);
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

function access(endpoint: string, folder: TestFolder, token?: string): HubAccess {
  return hubAccess({ HF_ENDPOINT: endpoint, XDG_CACHE_HOME: folder.path, HF_TOKEN: token });
}

/** Folder of the repository in the cache of Hugging Face's tools. */
const cached = (folder: TestFolder): string => join(folder.path, 'huggingface/hub/models--org--repo');

/** Names of the contents in the cache. */
function blobs(folder: TestFolder): string[] {
  const place = join(cached(folder), 'blobs');
  return existsSync(place) ? readdirSync(place) : [];
}

describe('a file of the hub', () => {
  it('is fetched once, with its progress, and found without a request afterwards', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files);
    const hub = access(server.endpoint, folder);
    const seen: DownloadProgress[] = [];
    const path = await hubFile(repository, 'q8/model.gguf', hub, { onProgress: (progress) => seen.push(progress) });
    expect(path).toBe(join(cached(folder), 'snapshots/main/q8/model.gguf'));
    expect(readlinkSync(path!)).toBe(`../../../blobs/${sha256(large)}`);
    expect(readFileSync(path!).equals(large)).toBe(true);
    expect(seen[0]).toEqual({ name: 'org/repo/q8/model.gguf', doneBytes: 0, totalBytes: 3_000_000 });
    expect(seen.at(-1)).toMatchObject({ doneBytes: 3_000_000 });
    expect(blobs(folder)).toEqual([sha256(large)]);
    const { length } = server.requests;
    expect(await hubFile(repository, 'q8/model.gguf', hub)).toBe(path);
    expect(server.requests).toHaveLength(length);
    expect(readFileSync((await hubFile(repository, 'config.json', hub))!).equals(small)).toBe(true);
  });

  it('is in the snapshot of its commit, which later files are fetched from', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start({ ...files, 'org/repo/v2/config.json': small }, { commit: COMMIT });
    const hub = access(server.endpoint, folder);
    const path = await hubFile(parseHubReference('hf:org/repo@v2'), 'config.json', hub);
    expect(path).toBe(join(cached(folder), `snapshots/${COMMIT}/config.json`));
    expect(readFileSync(join(cached(folder), 'refs/v2'), 'utf8')).toBe(COMMIT);
    await hubFile(repository, 'config.json', hub);
    await hubFile(repository, 'q8/model.gguf', hub);
    expect(server.requests.filter(({ server: name }) => name === 'hub').at(-1)!.path).toContain(`/resolve/${COMMIT}/`);
    const { length } = server.requests;
    expect(await hubFile(repository, 'none.json', hub)).toBeUndefined();
    expect(await hubFile(repository, 'none.json', hub)).toBeUndefined();
    expect(server.requests).toHaveLength(length + 1);
  });

  it("is found where Hugging Face's tools or version 0.1 put it, and only removed if dki-bench fetched it", async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files);
    const hub = access(server.endpoint, folder);
    const place = (...names: string[]): string => {
      const path = join(folder.path, ...names);
      mkdirSync(join(path, '..'), { recursive: true });
      return path;
    };
    const foreign = place(`huggingface/hub/models--org--other/snapshots/${COMMIT}/a.gguf`);
    writeFileSync(foreign, 'theirs');
    writeFileSync(place('huggingface/hub/models--org--other/refs/main'), COMMIT);
    const former = place('dki-bench/models/org/old@v1/b.gguf');
    writeFileSync(former, 'ours');
    expect(findHubFile(parseHubReference('hf:org/other'), 'a.gguf', hub)).toBe(foreign);
    expect(await hubFile(parseHubReference('hf:org/old@v1'), 'b.gguf', hub)).toBe(former);
    expect(server.requests).toEqual([]);
    expect([removeCachedFile(foreign, hub), existsSync(foreign)]).toEqual([false, true]);
    expect([removeCachedFile(former, hub), existsSync(join(folder.path, 'dki-bench/models'))]).toEqual([true, false]);
    const fetched = await hubFile(repository, 'q8/model.gguf', hub);
    const config = await hubFile(repository, 'config.json', hub);
    expect([removeCachedFile(fetched!, hub), existsSync(fetched!), blobs(folder).length]).toEqual([true, false, 1]);
    expect([removeCachedFile(config!, hub), existsSync(cached(folder))]).toEqual([true, false]);
  });

  it('goes on where the line broke, and starts over where the server knows no ranges', async () => {
    for (const ignoresRanges of [false, true]) {
      using folder = new TestFolder();
      await using server = await HubServer.start(files, { breaksAfterBytes: [1_000_000, 2_000_000], ignoresRanges });
      const path = await hubFile(repository, 'q8/model.gguf', access(server.endpoint, folder));
      expect(readFileSync(path!).equals(large)).toBe(true);
      const starts = server.requests
        .filter(({ server: name, method }) => name === 'files' && method === 'GET')
        .map(({ range }) => Number(/\d+/.exec(range ?? '0')![0]));
      expect(starts.length).toBeGreaterThan(1);
      expect(starts.slice(1).every((start, index) => start > starts[index]!)).toBe(true);
    }
  });

  it('is fetched to its end by the next process where the first was killed', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files, { hangsAfterBytes: 1_000_000 });
    const script = `
      import { hubFile } from ${JSON.stringify(new URL('hub-file.ts', import.meta.url).href)};
      import { hubAccess } from ${JSON.stringify(new URL('hub-cache.ts', import.meta.url).href)};
      import { parseHubReference } from ${JSON.stringify(new URL('hub-reference.ts', import.meta.url).href)};
      await hubFile(parseHubReference('hf:org/repo'), 'q8/model.gguf', hubAccess());`;
    const { child, ended } = startProcess([...typescript, '--input-type=module', '-e', script], {
      environment: { HF_ENDPOINT: server.endpoint, XDG_CACHE_HOME: folder.path },
    });
    const sizeOfPartial = (): number => {
      const [name] = blobs(folder);
      return name === undefined ? 0 : statSync(join(cached(folder), 'blobs', name)).size;
    };
    while (sizeOfPartial() < 1_000_000) await wait(10);
    child.kill('SIGKILL');
    await ended;
    expect(blobs(folder)).toEqual([`${sha256(large)}.incomplete`]);
    server.faults = {};
    const path = await hubFile(repository, 'q8/model.gguf', access(server.endpoint, folder));
    expect(readFileSync(path!).equals(large)).toBe(true);
    expect(server.requests.at(-1)).toMatchObject({ server: 'files', range: 'bytes=1000000-' });
    expect(blobs(folder)).toEqual([sha256(large)]);
  });

  it.each([
    ['q8/model.gguf', 'sha-256'],
    ['config.json', 'git blob'],
  ])('%s damaged in transfer is deleted, and the error names both checksums', async (file, kind) => {
    using folder = new TestFolder();
    const damages = (bytes: Buffer): Buffer => Buffer.concat([bytes.subarray(0, -1), Buffer.from([bytes.at(-1)! ^ 1])]);
    await using server = await HubServer.start(files, { damages });
    await expect(hubFile(repository, file, access(server.endpoint, folder))).rejects.toMatchObject({
      code: 'bad-data',
      message: expect.stringMatching(
        new RegExp(`its ${kind} is ([0-9a-f]+), expected (?!\\1)[0-9a-f]+; the file was deleted$`),
      ),
    });
    expect(blobs(folder)).toEqual([]);
  });

  it('that was replaced on the hub does not go on behind what was fetched of the old one', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files);
    mkdirSync(join(cached(folder), 'blobs'), { recursive: true });
    writeFileSync(join(cached(folder), 'blobs', `${sha256(Buffer.from('the old one'))}.incomplete`), 'the old one');
    const path = await hubFile(repository, 'q8/model.gguf', access(server.endpoint, folder));
    expect(readFileSync(path!).equals(large)).toBe(true);
    expect(server.requests.at(-1)?.range).toBeUndefined();
  });

  it('is fetched whole by two at once', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files);
    const hub = access(server.endpoint, folder);
    const paths = await Promise.all([1, 2].map(() => hubFile(repository, 'q8/model.gguf', hub)));
    for (const path of paths) expect(readFileSync(path!).equals(large)).toBe(true);
    expect(blobs(folder)).toEqual([sha256(large)]);
  });

  it('sends the token to the hub alone', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files, { token: 'a-secret' });
    await hubFile(repository, 'q8/model.gguf', access(server.endpoint, folder, 'a-secret'));
    expect(new Set(server.requests.map(({ server: name, authorization }) => `${name} ${authorization}`))).toEqual(
      new Set(['hub Bearer a-secret', 'files undefined']),
    );
  });

  it('refused without a token says how to get in, and never shows a token', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files, { token: 'a-secret' });
    await expect(hubFile(repository, 'config.json', access(server.endpoint, folder))).rejects.toMatchObject({
      code: 'not-found',
      message: `${server.endpoint}/org/repo/resolve/main/config.json: the hub refuses it (401)`,
      hint: expect.stringContaining('set HF_TOKEN') as string,
    });
    const wrong = hubFile(repository, 'config.json', access(server.endpoint, folder, 'wrong-secret'));
    await expect(wrong).rejects.toMatchObject({
      hint: expect.not.stringContaining('wrong-secret') as string,
      message: expect.not.stringContaining('wrong-secret') as string,
    });
  });

  it('that is not there is undefined; no hub, and one without checksums, are errors', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files);
    const hub = access(server.endpoint, folder);
    expect(await hubFile(repository, 'no.gguf', hub)).toBeUndefined();
    server.faults = { hidesChecksums: true };
    await expect(hubFile(repository, 'config.json', hub)).rejects.toMatchObject({
      code: 'network',
      message: expect.stringContaining('no length or no checksum') as string,
    });
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    const nowhere = access(`http://127.0.0.1:${port}`, folder);
    await expect(hubFile(repository, 'config.json', nowhere)).rejects.toMatchObject({
      code: 'network',
      message: `127.0.0.1:${port} cannot be reached (ECONNREFUSED)`,
    });
  });

  it('ends with the reason of the signal', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files, { hangsAfterBytes: 1_000_000 });
    const controller = new AbortController();
    const onProgress = ({ doneBytes }: DownloadProgress): void => {
      if (doneBytes >= 900_000) controller.abort(new Error('enough'));
    };
    const options = { onProgress, signal: controller.signal };
    await expect(hubFile(repository, 'q8/model.gguf', access(server.endpoint, folder), options)).rejects.toThrow(
      'enough',
    );
    expect(blobs(folder)).toEqual([expect.stringMatching(/\.incomplete$/)]);
  });
});

describe('the name of something on the hub', () => {
  it('has organisation, repository, revision and file', () => {
    expect(parseHubReference('hf:org/re.po@v1.0/a/b-Q8_0.gguf')).toEqual({
      name: 'hf:org/re.po@v1.0',
      organisation: 'org',
      repository: 're.po',
      revision: 'v1.0',
      file: 'a/b-Q8_0.gguf',
    });
    expect(parseHubReference('hf:org/repo')).toMatchObject({ name: 'hf:org/repo', revision: 'main', file: undefined });
  });

  it.each([
    'hf:org',
    'hf:',
    'hf:org/repo/',
    'hf:org/repo/../../x',
    'hf:../repo/x',
    'hf:org/repo@/x',
    'hf:org/repo/a//b',
    'hf:org/repo?x',
    'hf:org/repo/%2e%2e/x',
  ])('%s is none', (name) => {
    expect(() => parseHubReference(name)).toThrow(`${name}: not a valid name on the hub`);
  });

  it('is read from the address and the cache that the environment names', () => {
    expect(hubAccess({ HOME: '/x' })).toMatchObject({ endpoint: 'https://huggingface.co', token: undefined });
    expect(hubAccess({ HF_ENDPOINT: 'http://127.0.0.1:1/', HF_TOKEN: '' })).toMatchObject({
      endpoint: 'http://127.0.0.1:1',
      token: undefined,
    });
    expect(() => hubAccess({ HF_ENDPOINT: 'mirror' })).toThrow('HF_ENDPOINT mirror: not an address');
  });
});

describe('a hub that does not keep to what it states', () => {
  it('is not listened to beyond the size of the file, and the partial file is deleted', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files, { addsBytes: 2_000_000 });
    const seen: DownloadProgress[] = [];
    const options = { onProgress: (progress: DownloadProgress) => seen.push(progress) };
    const fetched = hubFile(repository, 'q8/model.gguf', access(server.endpoint, folder), options);
    await expect(fetched).rejects.toMatchObject({
      code: 'bad-data',
      message: expect.stringMatching(
        /: sends more than the 3000000 bytes that it stated; the partial file was deleted$/,
      ) as string,
    });
    expect(blobs(folder)).toEqual([]);
    expect(Math.max(...seen.map(({ doneBytes }) => doneBytes))).toBeLessThanOrEqual(3_000_000);
  });

  it.each([
    ['another part', 'bytes 5-2999999/3000000'],
    ['a part of another file', 'bytes 1000000-4999999/5000000'],
    ['a part without a name', ''],
  ])('is refused where it sends %s, and asked no more', async (_, contentRange) => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files, { contentRange });
    mkdirSync(join(cached(folder), 'blobs'), { recursive: true });
    writeFileSync(join(cached(folder), 'blobs', `${sha256(large)}.incomplete`), large.subarray(0, 1_000_000));
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
    expect(blobs(folder).filter((name) => !name.endsWith('.incomplete'))).toEqual([]);
  });
});

describe('access to the hub', () => {
  test.each([
    ['a token with a line break', { HF_TOKEN: 'se\ncret' }, 'HF_TOKEN is not a token'],
    ['a token with odd characters', { HF_TOKEN: 'secrét' }, 'HF_TOKEN is not a token'],
    ['a password in the address', { HF_ENDPOINT: 'https://ann:secret@hub.example' }, 'HF_ENDPOINT names a user'],
  ])('%s is refused and not repeated', (_, environment, message) => {
    let thrown: unknown;
    try {
      hubAccess(environment);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(BenchError);
    const said = `${(thrown as BenchError).message} ${(thrown as BenchError).hint}`;
    expect(said).toContain(message);
    expect(said).not.toMatch(/se\n?cr|ann/);
  });

  test('spaces around a token are not part of it', () => {
    expect(hubAccess({ HF_TOKEN: ' secret\n' }).token).toBe('secret');
  });
});

describe('a redirection', () => {
  const servers: Server[] = [];
  const serve = async (headers: Readonly<Record<string, string>>, status = 200): Promise<string> => {
    const server = createServer((_, response) => response.writeHead(status, headers).end());
    servers.push(server);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  afterEach(() => servers.splice(0).forEach((server) => server.close()));

  test('to another server does not let that server define the checksum', async () => {
    const other = await serve({ etag: `"${'a'.repeat(64)}"`, 'content-length': '5' });
    const endpoint = await serve({ location: `${other}/file` }, 302);
    await expect(describeRemoteFile(`${endpoint}/file`, hubAccess({ HF_ENDPOINT: endpoint }))).rejects.toMatchObject({
      code: 'network',
      message: expect.stringContaining('the file could not be verified') as string,
    });
  });

  test.each(['http://[bad', 'file:///etc/passwd'])('to %s is an error', async (location) => {
    const endpoint = await serve({ location }, 302);
    await expect(describeRemoteFile(`${endpoint}/file`, hubAccess({ HF_ENDPOINT: endpoint }))).rejects.toMatchObject({
      code: 'network',
      message: expect.stringContaining('redirected to an invalid web address') as string,
    });
  });
});
