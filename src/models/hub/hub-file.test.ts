import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { HubServer } from '../../../test/fixtures/hub-server.ts';
import { startProcess, typescript } from '../../../test/fixtures/run-process.ts';
import { TestFolder } from '../../../test/model/bench-fixture.ts';
import { type DownloadProgress, hubFile } from './hub-file.ts';
import { hubAccess, type HubAccess, parseHubReference } from './hub-reference.ts';

const large = randomBytes(3_000_000);
const small = Buffer.from('{"hidden_size": 384}');
const files = { 'org/repo/main/q8/model.gguf': large, 'org/repo/main/config.json': small };
const repository = parseHubReference('hf:org/repo');

function access(endpoint: string, folder: TestFolder, token?: string): HubAccess {
  return hubAccess({ HF_ENDPOINT: endpoint, XDG_CACHE_HOME: folder.path, HF_TOKEN: token });
}

function kept(folder: TestFolder): string[] {
  const names = readdirSync(folder.path, { recursive: true, withFileTypes: true });
  return names.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

describe('a file of the hub', () => {
  it('is fetched once, with its progress, and found without a request afterwards', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files);
    const hub = access(server.endpoint, folder);
    const seen: DownloadProgress[] = [];
    const path = await hubFile(repository, 'q8/model.gguf', hub, { onProgress: (progress) => seen.push(progress) });
    expect(path).toBe(join(folder.path, 'dki-bench/models/org/repo/q8/model.gguf'));
    expect(readFileSync(path!).equals(large)).toBe(true);
    expect(seen[0]).toEqual({ name: 'org/repo/q8/model.gguf', doneBytes: 0, totalBytes: 3_000_000 });
    expect(seen.at(-1)).toMatchObject({ doneBytes: 3_000_000 });
    expect(kept(folder)).toEqual(['model.gguf']);
    const { length } = server.requests;
    expect(await hubFile(repository, 'q8/model.gguf', hub)).toBe(path);
    expect(server.requests).toHaveLength(length);
    expect(readFileSync((await hubFile(repository, 'config.json', hub))!).equals(small)).toBe(true);
  });

  it('of another revision lies elsewhere', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start({ ...files, 'org/repo/v2/config.json': Buffer.from('{}') });
    const path = await hubFile(parseHubReference('hf:org/repo@v2'), 'config.json', access(server.endpoint, folder));
    expect(path).toBe(join(folder.path, 'dki-bench/models/org/repo@v2/config.json'));
    expect(readFileSync(path!, 'utf8')).toBe('{}');
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
      import { hubAccess, parseHubReference } from ${JSON.stringify(new URL('hub-reference.ts', import.meta.url).href)};
      await hubFile(parseHubReference('hf:org/repo'), 'q8/model.gguf', hubAccess());`;
    const { child, ended } = startProcess([...typescript, '--input-type=module', '-e', script], {
      environment: { HF_ENDPOINT: server.endpoint, XDG_CACHE_HOME: folder.path },
    });
    const models = join(folder.path, 'dki-bench/models/org/repo/q8');
    const sizeOfPartial = (): number => {
      const [name] = existsSync(models) ? readdirSync(models) : [];
      return name === undefined ? 0 : statSync(join(models, name)).size;
    };
    while (sizeOfPartial() < 1_000_000) await wait(10);
    child.kill('SIGKILL');
    await ended;
    expect(kept(folder)).toEqual([expect.stringMatching(/^model\.gguf\.[0-9a-f]{16}\.partial$/)]);
    server.faults = {};
    const path = await hubFile(repository, 'q8/model.gguf', access(server.endpoint, folder));
    expect(readFileSync(path!).equals(large)).toBe(true);
    expect(server.requests.at(-1)).toMatchObject({ server: 'files', range: 'bytes=1000000-' });
    expect(kept(folder)).toEqual(['model.gguf']);
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
    expect(kept(folder)).toEqual([]);
  });

  it('that was replaced on the hub does not go on behind what was fetched of the old one', async () => {
    using folder = new TestFolder();
    await using server = await HubServer.start(files);
    const models = join(folder.path, 'dki-bench/models/org/repo/q8');
    mkdirSync(models, { recursive: true });
    const tag = createHash('sha256').update('the old one').digest('hex').slice(0, 16);
    writeFileSync(join(models, `model.gguf.${tag}.partial`), 'the old one');
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
    expect(kept(folder)).toEqual(['model.gguf']);
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
    expect(kept(folder)).toEqual([expect.stringMatching(/\.partial$/)]);
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
