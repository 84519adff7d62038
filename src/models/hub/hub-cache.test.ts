import { createHash, pbkdf2, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { benchFailure, expectFailure } from '../../../test/fixtures/bench-failure.ts';
import { type HubFaults, HubServer } from '../../../test/fixtures/hub-server.ts';
import { startProcess, typescript } from '../../../test/fixtures/run-process.ts';
import { TestServer } from '../../../test/fixtures/test-server.ts';
import { folderOfEachTest } from '../../../test/fixtures/folder-of-each-test.ts';
import { fetchHubFile, findHubFile, removeCachedFile } from './hub-cache.ts';
import { parseHubReference } from './hub-reference.ts';
import { describeRemoteFile } from './describe-remote-file.ts';
import { hubAccess, type HubAccess } from './hub-access.ts';
import type { DownloadOptions, DownloadProgress } from './download-file.ts';

const large = randomBytes(3_000_000);
const small = Buffer.from('{"hidden_size": 384}');
const files = {
  'org/repo/main/q8/model.gguf': large,
  'org/repo/main/config.json': small,
  'org/repo/v2/config.json': small,
  'org/repo/main/vocab.json': randomBytes(5_000),
};
const repository = parseHubReference('hf:org/repo');
const gguf = 'q8/model.gguf';
const COMMIT = 'c'.repeat(40);
const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

const folder = folderOfEachTest();
let server: HubServer;
/** Folder of the repository in the cache of Hugging Face's tools. */
let cached: string;
beforeEach(async () => {
  server = await HubServer.start(files);
  cached = folder.file('huggingface/hub/models--org--repo');
  return () => server[Symbol.asyncDispose]();
});

const access = (token?: string, endpoint = server.endpoint): HubAccess =>
  hubAccess({ HF_ENDPOINT: endpoint, XDG_CACHE_HOME: folder.path, HF_TOKEN: token });

const fetchFile = (file: string, options?: DownloadOptions): Promise<string | undefined> =>
  fetchHubFile(repository, file, access(), options);

async function expectLarge(options?: DownloadOptions): Promise<void> {
  const path = await fetchFile(gguf, options);
  expect(readFileSync(path!).equals(large)).toBe(true);
  expect(blobs()).toEqual([sha256(large)]);
}

const blobs = (): string[] => (existsSync(join(cached, 'blobs')) ? readdirSync(join(cached, 'blobs')) : []);

/** The parts of the file that the second server was asked for. */
const ranges = () =>
  server.requests.flatMap((request) => (request.server === 'files' && request.method === 'GET' ? [request.range] : []));

function written(name: string, content: string | Buffer): string {
  const path = folder.file(name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

/** Leaves a part in the cache, as of a file with these bytes. */
const leavePart = (whole: Buffer | string, part: Buffer | string) =>
  written(`huggingface/hub/models--org--repo/blobs/${sha256(whole)}.incomplete`, part);

describe('a file of the hub', () => {
  it('is fetched once, with its progress, and found without a request afterwards', async () => {
    const seen: DownloadProgress[] = [];
    const path = await fetchFile(gguf, { onProgress: (progress) => seen.push(progress) });
    expect(path).toBe(join(cached, 'snapshots/main/q8/model.gguf'));
    expect(readlinkSync(path!)).toBe(`../../../blobs/${sha256(large)}`);
    expect(readFileSync(path!).equals(large)).toBe(true);
    expect(seen[0]).toEqual({ name: 'org/repo/q8/model.gguf', doneBytes: 0, totalBytes: 3_000_000 });
    expect(seen.at(-1)).toMatchObject({ doneBytes: 3_000_000 });
    expect(blobs()).toEqual([sha256(large)]);
    const { length } = server.requests;
    expect(await fetchFile(gguf)).toBe(path);
    expect(server.requests).toHaveLength(length);
    expect(readFileSync((await fetchFile('config.json'))!).equals(small)).toBe(true);
  });

  it('is in the snapshot of its commit, which later files are fetched from', async () => {
    server.faults = { commit: COMMIT };
    const path = await fetchHubFile(parseHubReference('hf:org/repo@v2'), 'config.json', access());
    expect(path).toBe(join(cached, `snapshots/${COMMIT}/config.json`));
    expect(readFileSync(join(cached, 'refs/v2'), 'utf8')).toBe(COMMIT);
    await fetchFile('config.json');
    await fetchFile(gguf);
    expect(server.requests.filter(({ server: name }) => name === 'hub').at(-1)!.path).toContain(`/resolve/${COMMIT}/`);
    const { length } = server.requests;
    expect(await fetchFile('none.json')).toBeUndefined();
    expect(await fetchFile('none.json')).toBeUndefined();
    expect(server.requests).toHaveLength(length + 1);
  });

  it("is found where Hugging Face's tools or version 0.1 put it, and only removed if dki-bench fetched it", async () => {
    const hub = access();
    const foreign = written(`huggingface/hub/models--org--other/snapshots/${COMMIT}/a.gguf`, 'theirs');
    written('huggingface/hub/models--org--other/refs/main', COMMIT);
    const former = written('dki-bench/models/org/old@v1/b.gguf', 'ours');
    expect(findHubFile(parseHubReference('hf:org/other'), 'a.gguf', hub)).toBe(foreign);
    expect(await fetchHubFile(parseHubReference('hf:org/old@v1'), 'b.gguf', hub)).toBe(former);
    expect(server.requests).toEqual([]);
    expect([removeCachedFile(foreign, hub), existsSync(foreign)]).toEqual([false, true]);
    expect([removeCachedFile(former, hub), existsSync(folder.file('dki-bench/models'))]).toEqual([true, false]);
    const fetched = await fetchFile(gguf);
    const config = await fetchFile('config.json');
    expect([removeCachedFile(fetched!, hub), existsSync(fetched!), blobs().length]).toEqual([true, false, 1]);
    expect([removeCachedFile(config!, hub), existsSync(cached)]).toEqual([true, false]);
  });

  it.each([false, true])('continues after a broken connection; server without ranges: %s', async (ignoresRanges) => {
    server.faults = { breaksAfterBytes: [1_000_000, 2_000_000], ignoresRanges };
    await expectLarge();
    const starts = ranges().map((range) => Number(/\d+/.exec(range ?? '0')![0]));
    expect(starts.length).toBeGreaterThan(1);
    expect(starts.slice(1).every((start, index) => start > starts[index]!)).toBe(true);
  });

  it('is completed by the next process if the first was killed', async () => {
    server.faults = { hangsAfterBytes: 1_000_000 };
    const script = `
      import { fetchHubFile } from ${JSON.stringify(new URL('hub-cache.ts', import.meta.url).href)};
      import { hubAccess } from ${JSON.stringify(new URL('hub-access.ts', import.meta.url).href)};
      import { parseHubReference } from ${JSON.stringify(new URL('hub-reference.ts', import.meta.url).href)};
      await fetchHubFile(parseHubReference('hf:org/repo'), 'q8/model.gguf', hubAccess());`;
    const { child, ended } = startProcess([...typescript, '--input-type=module', '-e', script], {
      environment: { HF_ENDPOINT: server.endpoint, XDG_CACHE_HOME: folder.path },
    });
    const partialBytes = () => Math.max(0, ...blobs().map((name) => statSync(join(cached, 'blobs', name)).size));
    while (partialBytes() < 1_000_000) await wait(10);
    child.kill('SIGKILL');
    await ended;
    expect(blobs()).toEqual([`${sha256(large)}.incomplete`]);
    server.faults = {};
    await expectLarge();
    expect(server.requests.at(-1)).toMatchObject({ server: 'files', range: 'bytes=1000000-' });
  });

  it('does not continue the partial download of an older version', async () => {
    leavePart('the old one', 'the old one');
    const path = await fetchFile(gguf);
    expect(readFileSync(path!).equals(large)).toBe(true);
    expect(server.requests.at(-1)?.range).toBeUndefined();
  });

  it('is fetched correctly by two callers at once', async () => {
    const paths = await Promise.all([fetchFile(gguf), fetchFile(gguf)]);
    for (const path of paths) expect(readFileSync(path!).equals(large)).toBe(true);
    expect(blobs()).toEqual([sha256(large)]);
  });

  it('sends the token to the hub alone', async () => {
    server.faults = { token: 'a-secret' };
    await fetchHubFile(repository, gguf, access('a-secret'));
    expect(new Set(server.requests.map(({ server: name, authorization }) => `${name} ${authorization}`))).toEqual(
      new Set(['hub Bearer a-secret', 'files undefined']),
    );
  });

  it('that is refused without a token says how to get access, and never shows a token', async () => {
    server.faults = { token: 'a-secret' };
    const message = `${server.endpoint}/org/repo/resolve/main/config.json: the hub refuses it (401)`;
    await expectFailure(fetchFile('config.json'), 'not-found', message, /set HF_TOKEN/);
    const wrong = await benchFailure(fetchHubFile(repository, 'config.json', access('wrong-secret')));
    expect(wrong.message + wrong.hint).not.toContain('wrong-secret');
  });

  it('that is missing is undefined, and an unreachable hub an error', async () => {
    expect(await fetchFile('no.gguf')).toBeUndefined();
    const gone = await new TestServer(() => undefined).listen();
    const { port, url } = gone;
    await gone[Symbol.asyncDispose]();
    const fetched = fetchHubFile(repository, 'config.json', access('', url));
    await expectFailure(fetched, 'network', `127.0.0.1:${port} cannot be reached (ECONNREFUSED)`);
  });

  it('ends with the reason of the signal', async () => {
    server.faults = { hangsAfterBytes: 1_000_000 };
    const controller = new AbortController();
    const onProgress = ({ doneBytes }: DownloadProgress) =>
      doneBytes >= 900_000 && controller.abort(new Error('enough'));
    await expect(fetchFile(gguf, { onProgress, signal: controller.signal })).rejects.toThrow('enough');
    expect(blobs()).toEqual([expect.stringMatching(/\.incomplete$/)]);
  });
});

describe('the name of something on the hub', () => {
  it('has organisation, repository, revision and file', () => {
    const whole = { name: 'hf:org/re.po@v1.0', organisation: 'org', repository: 're.po', revision: 'v1.0' };
    expect(parseHubReference('hf:org/re.po@v1.0/a/b-Q8_0.gguf')).toEqual({ ...whole, file: 'a/b-Q8_0.gguf' });
    expect(parseHubReference('hf:org/repo')).toMatchObject({ name: 'hf:org/repo', revision: 'main', file: undefined });
  });

  const short = ['hf:', 'hf:org', 'hf:org/repo/', 'hf:org/repo@/x', 'hf:org/repo?x'];
  const leaving = ['hf:org/repo/../../x', 'hf:../repo/x', 'hf:org/repo/a//b', 'hf:org/repo/%2e%2e/x'];
  it.each([...short, ...leaving])('%s is refused', (name) => {
    expect(() => parseHubReference(name)).toThrow(`${name}: not a valid name on the hub`);
  });

  it('is read from the address and the cache that the environment names', () => {
    const mirror = { HF_ENDPOINT: 'http://127.0.0.1:1/', HF_TOKEN: '' };
    expect(hubAccess({ HOME: '/x' })).toMatchObject({ endpoint: 'https://huggingface.co', token: undefined });
    expect(hubAccess(mirror)).toMatchObject({ endpoint: 'http://127.0.0.1:1', token: undefined });
    expect(() => hubAccess({ HF_ENDPOINT: 'mirror' })).toThrow('HF_ENDPOINT mirror: not a web address');
    expect(() => hubAccess({ HF_ENDPOINT: 'me:secret@mirror' })).toThrow(/^HF_ENDPOINT: not a web address$/);
  });
});

describe('a hub that does not send what it states', () => {
  const damages = (bytes: Buffer): Buffer => Buffer.concat([bytes.subarray(0, -1), Buffer.from([bytes.at(-1)! ^ 1])]);
  const damaged = (kind: string) => new RegExp(`its ${kind} is (\\w+), expected (?!\\1)\\w+; the file was deleted$`);
  const part = /: asked for the bytes from 1000000 of 3000000, the server sends "/;

  it.each<[string, string, HubFaults, 'bad-data' | 'network', RegExp]>([
    ['damages a large file', gguf, { damages }, 'bad-data', damaged('sha-256')],
    ['damages a small file', 'config.json', { damages }, 'bad-data', damaged('git blob')],
    ['gives no checksum', 'config.json', { hidesChecksums: true }, 'network', /no length or no checksum/],
    ['sends a web page', 'config.json', { sendsPages: true }, 'network', /config\.json: the server sends a web page/],
    ['sends another part', gguf, { contentRange: 'bytes 5-2999999/3000000' }, 'bad-data', part],
    ['sends a part of another file', gguf, { contentRange: 'bytes 1000000-4999999/5000000' }, 'bad-data', part],
    ['sends a part of a larger file', gguf, { contentRange: 'bytes 1000000-2999999/5000000' }, 'bad-data', part],
    ['names no part', gguf, { contentRange: '' }, 'bad-data', part],
  ])('is refused where it %s, and asked no more', async (_, file, faults, code, message) => {
    server.faults = faults;
    if (faults.contentRange !== undefined) leavePart(large, large.subarray(0, 1_000_000));
    await expectFailure(fetchFile(file), code, message);
    expect(blobs().filter((name) => faults.damages !== undefined || !name.endsWith('.incomplete'))).toEqual([]);
    expect(ranges().length).toBeLessThanOrEqual(1);
  });

  it('is cut off beyond the size of the file, and the partial file is deleted', async () => {
    server.faults = { addsBytes: 2_000_000 };
    const seen: DownloadProgress[] = [];
    const fetched = fetchFile(gguf, { onProgress: (progress) => seen.push(progress) });
    const message = /: sends more than the 3000000 bytes that it stated; the partial file was deleted$/;
    await expectFailure(fetched, 'bad-data', message);
    expect(blobs()).toEqual([]);
    expect(Math.max(...seen.map(({ doneBytes }) => doneBytes))).toBeLessThanOrEqual(3_000_000);
  });

  it('is given up if every response brings a few bytes', async () => {
    server.faults = { breaksAfterBytes: Array.from({ length: 1000 }, () => 10) };
    await expect(fetchFile('vocab.json')).rejects.toMatchObject({ code: 'network' });
    const [described, ...answers] = server.requests.map(({ range }) => range);
    expect([described, answers[0], answers.at(-1)]).toEqual([undefined, undefined, 'bytes=1990-']);
    expect(answers).toHaveLength(200);
  });

  it('loses no bytes that arrived before the connection broke, however slow the disk', async () => {
    server.faults = { breaksAfterBytes: [30_000] };
    // Nothing is written while the threads that write do something else.
    const slow = Array.from({ length: 8 }, () => promisify(pbkdf2)('', '', 50_000, 64, 'sha512'));
    await expectLarge();
    await Promise.all(slow);
    expect(server.requests.at(-1)).toMatchObject({ server: 'files', range: 'bytes=30000-' });
  });

  it('is given up if silent, and asked again if something had arrived', async () => {
    server.faults = { hangsAfterBytes: 1_000_000 };
    await expectLarge({ idleMs: 500 });
    expect(ranges()).toEqual([undefined, 'bytes=1000000-', 'bytes=2000000-']);
    server.faults = { isSilent: true };
    const silent = /^127\.0\.0\.1:\d+ sent nothing for 0\.5 s$/;
    await expectFailure(fetchFile('config.json', { idleMs: 500 }), 'network', silent, /run it again/);
  });
});

describe('access to the hub', () => {
  test.each([
    ['a token with a line break', { HF_TOKEN: 'se\ncret' }, 'HF_TOKEN is not a token'],
    ['a token with odd characters', { HF_TOKEN: 'secrét' }, 'HF_TOKEN is not a token'],
    [
      'a password in the address',
      { HF_ENDPOINT: 'https://ann:secret@hub.example' },
      'HF_ENDPOINT contains a user name',
    ],
  ])('%s is refused and not repeated', async (_, environment, message) => {
    const error = await benchFailure(() => hubAccess(environment));
    expect(error.message).toContain(message);
    expect(`${error.message} ${error.hint}`).not.toMatch(/se\n?cr|ann/);
  });

  test('spaces around a token are not part of it', () => {
    expect(hubAccess({ HF_TOKEN: ' secret\n' }).token).toBe('secret');
  });
});

describe('a redirection', () => {
  const answering = (headers: Readonly<Record<string, string>>, status = 200): Promise<TestServer> =>
    new TestServer((_, response) => response.writeHead(status, headers).end()).listen();
  const describedBy = ({ url }: TestServer) => describeRemoteFile(`${url}/file`, access('', url));

  test('to another server does not let that server define the checksum', async () => {
    await using other = await answering({ etag: `"${'a'.repeat(64)}"`, 'content-length': '5' });
    await using hub = await answering({ location: `${other.url}/file` }, 302);
    await expectFailure(describedBy(hub), 'network', /the file could not be verified/);
  });

  test.each(['http://[bad', 'file:///etc/passwd'])('to %s is an error', async (location) => {
    await using hub = await answering({ location }, 302);
    await expectFailure(describedBy(hub), 'network', /redirected to an invalid web address/);
  });
});
