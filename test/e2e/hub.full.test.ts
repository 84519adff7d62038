import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { presetModels } from '../../src/models/default-models.ts';
import type { RunResults } from '../../src/store/records/run-results.ts';
import { randomModelPath } from '../../src/engine/gguf/random-model/random-model.ts';
import { noMounts, ownMounts } from '../fixtures/own-mounts.ts';
import { program, runProcess } from '../fixtures/run-process.ts';
import { HubServer } from '../fixtures/hub-server.ts';
import { tinyGguf, tinyHeader } from '../fixtures/tiny-gguf.ts';
import { TestFolder } from '../model/bench-fixture.ts';

const shippedEmbedder = presetModels.embedder;
afterEach(() => vi.unstubAllEnvs());

async function hubFiles(): Promise<Record<string, Buffer>> {
  const entries = readdirSync(shippedEmbedder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return {
    'org/tiny/main/q8/tiny.gguf': readFileSync(await randomModelPath('random:tiny-qwen2-chat')),
    ...Object.fromEntries(
      paths.map((path) => [`org/embed/main${path.slice(shippedEmbedder.length)}`, readFileSync(path)]),
    ),
  };
}

function use(server: HubServer, cache: string): void {
  vi.stubEnv('HF_ENDPOINT', server.endpoint);
  vi.stubEnv('XDG_CACHE_HOME', cache);
  vi.stubEnv('HF_TOKEN', 'a-secret');
}

it('a run on a model and an embedder of the hub fetches them with its progress, and the next makes no request', async () => {
  using folder = new TestFolder();
  await using server = await HubServer.start(await hubFiles(), { token: 'a-secret' });
  use(server, folder.file('cache'));
  const models = ['--model', 'hf:org/tiny/q8/tiny.gguf', '--embedder', 'hf:org/embed', '--template', 'chat'];
  const words = ['bench', ...models, '--arms', 'rag,dki', '--users', '10', '--limit', '8', '--json'];
  const first = await runProcess([...program, ...words], { cwd: folder.path });
  expect(first.stderr.match(/ of .* MiB · org\//g)!.length).toBeGreaterThan(1);
  expect(first.stderr).toMatch(/ 100 % of \d\.\d MiB · org\/tiny\/q8\/tiny\.gguf/);
  const { run } = JSON.parse(first.stdout) as RunResults;
  const [model, embedder] = [{ name: 'random:tiny-qwen2-chat' }, { name: 'embed' }];
  expect(run).toMatchObject({ status: 'finished', model, embedder, settings: { model: 'tiny.gguf' } });
  expect(first.stdout + first.stderr).not.toContain('a-secret');
  await server[Symbol.asyncDispose]();
  const second = await runProcess([...program, ...words, '--quiet'], { cwd: folder.path });
  expect([second.code, second.stderr.includes('MiB')]).toEqual([0, false]);
});

it('a disk that is too small for a model is named, and what was fetched goes on where there is space', async ({
  skip,
}) => {
  skip(ownMounts === undefined, noMounts);
  using folder = new TestFolder();
  await using server = await HubServer.start(await hubFiles());
  mkdirSync(folder.file('disk'));
  use(server, folder.file('disk'));
  const doctor = `${program.map((word) => `'${word}'`).join(' ')} doctor --model hf:org/tiny/q8/tiny.gguf`;
  const script = `mount -t tmpfs -o size=300k tmpfs disk || exit 99
    ${doctor} >first.out 2>first.err; echo $? >first.code
    mount -o remount,size=64m disk
    ${doctor} --json`;
  const resumed = await runProcess([...ownMounts!, 'sh', '-c', script], { cwd: folder.path });
  const written = (file: string): string => readFileSync(folder.file(file), 'utf8');
  expect(written('first.code')).toBe('2\n');
  const message = /\nerror: \S+tiny\.gguf could not be written to \S+: ENOSPC\n {2}hint: free some space/;
  expect(written('first.err')).toMatch(message);
  const model = { name: 'random:tiny-qwen2-chat', hasChatTemplate: true };
  expect(JSON.parse(resumed.stdout)).toMatchObject({ model });
  const fetched = server.requests.filter(({ server: name, method }) => name === 'files' && method === 'GET');
  expect(fetched.map(({ range }) => range)).toEqual([undefined, expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
});

it('the doctor says of a model which arms it can run and why not the others', async () => {
  using folder = new TestFolder();
  const header = { ...tinyHeader('gemma2'), 'gemma2.attention.sliding_window': 64, 'tokenizer.ggml.eos_token_id': 1 };
  writeFileSync(folder.file('gemma.gguf'), tinyGguf(header, { 'output_norm.weight': [1, 2, 3] }));
  const { stdout } = await runProcess([...program, 'doctor', '--model', 'gemma.gguf'], { cwd: folder.path });
  const text = stdout.replace(/\s+/g, ' ');
  expect(text).toContain('✓ runs none, oracle, full, rag, rag-cached, rag-twin, dki, dki-resident, ');
  const why =
    ': the KV layout of architecture gemma2 is not supported (supported: llama, qwen2, qwen3, qwen3moe, gemma3), and its layers see only 64 tokens back (sliding window)';
  expect(text).toContain(why);
  // 2 layers × 2 heads × 8 numbers of keys and of values.
  expect(text).toContain('KV 128 bytes in f16, 68 bytes in q8_0, per memory token');
  expect(text).toContain('stops at b (1)');
  const words = ['bench', '--model', 'gemma.gguf', '--arms', 'rag,dki-blocks'];
  expect((await runProcess([...program, ...words], { cwd: folder.path })).stderr).toContain(
    `gemma.gguf cannot run dki-blocks${why}\n`,
  );
});
