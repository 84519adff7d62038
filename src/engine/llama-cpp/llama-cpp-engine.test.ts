import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorLike } from '../../../test/fixtures/error-like.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { tinyGguf, tinyHeader } from '../../../test/fixtures/tiny-gguf.ts';
import { hostInFileName, writerInFileName } from '../../base/is-process-running.ts';
import { presetModels } from '../../models/default-models.ts';
import { checkpointSchema } from '../engine-session.ts';
import { cellBytes } from '../sequence-state.ts';
import { LlamaCppEngine } from './llama-cpp-engine.ts';
import { randomModelPath } from '../gguf/random-model/random-model.ts';

const model = presetModels.model;
const scratch = temporaryFolder();
const checkpointFolder = scratch.file('checkpoints');

let engine: LlamaCppEngine;
let memories: readonly number[];
beforeAll(async () => {
  engine = await LlamaCppEngine.open(model, { model, checkpointFolder });
  const [ids] = await engine.tokenize([{ text: '[1] My sister Ann lives in Leeds.\n[2] I like tea.\n', as: 'text' }]);
  memories = [engine.info.bosToken!, ...ids!];
});
afterAll(() => engine[Symbol.asyncDispose]());

test('describes the file and how it was loaded', () => {
  const bytes = readFileSync(model);
  const { info } = engine;
  expect(info).toMatchObject({
    engine: 'llama-cpp',
    build: { 'node-llama-cpp': '3.21.1', 'llama.cpp': 'v0.4.0' },
    modelSha256: createHash('sha256').update(bytes).digest('hex'),
    contextTokens: 2048,
    cellTokens: 2048,
    threads: 1,
    bosToken: 0,
    markers: { bos: '<s>', eos: '</s>' },
    endTokens: [1],
  });
  expect(info.model).toMatchObject({
    architecture: 'llama',
    sizeBytes: bytes.length,
    trainContextTokens: 2048,
    layers: 8,
    kvBytesPerToken: { f16: 8 * 2 * 32 * 2 * 2, q8_0: 8 * 2 * 32 * 2 * (34 / 32) },
    attention: 'full',
    rope: { base: 10_000, scaling: 'none', scale: 1 },
    stopTokens: [{ id: 1, text: '</s>' }],
    chatTemplate: null,
  });
  expect(info.stateIdentity).toBe(
    `llama.cpp ${info.build['llama.cpp']}, model ${info.modelSha256}, flash attention off, F16, batches of 512`,
  );
});

test('defaults: the training context up to 4,096 tokens, one thread for a small model', async () => {
  const path = await randomModelPath('random:tiny-llama');
  await using long = await LlamaCppEngine.open(path, { model: path });
  expect([long.info.contextTokens, long.info.threads]).toEqual([4096, 1]);
  await using short = await LlamaCppEngine.open(path, { model: path, contextTokens: 256, threads: 2 });
  expect([short.info.contextTokens, short.info.threads]).toEqual([256, 2]);
});

test('a tokeniser without a leading space gives a text the same ids at any position', async () => {
  const [first, later] = await engine.tokenize([
    { text: 'User: hello', as: 'text', first: true },
    { text: 'User: hello', as: 'text' },
  ]);
  expect(first).toEqual(later);
});

test('KV in F32 has twice the bytes, is restored bitwise, and is refused as F16', async () => {
  const path = await randomModelPath('random:tiny-qwen3');
  const request = { model: path, contextTokens: 256, checkpointFolder };
  await using wide = await LlamaCppEngine.open(path, { ...request, kvType: 'F32' });
  await using narrow = await LlamaCppEngine.open(path, request);
  const prefix = Array.from({ length: 20 }, (_, index) => 97 * index + 3);
  const suffix = [5, 9, 400];
  await using inWide = await wide.openSession('wide');
  await using inNarrow = await narrow.openSession('narrow');
  const asText = await inWide.score([...prefix, ...suffix], [7]);
  expect((await inNarrow.score([...prefix, ...suffix], [7])).next).not.toEqual(asText.next);
  await inWide.truncate(prefix.length);
  await inNarrow.truncate(prefix.length);
  const [wideState, narrowState] = [await inWide.checkpoint(), await inNarrow.checkpoint()];
  const { layout } = narrow.capabilities.cells!;
  expect(wideState.bytes - narrowState.bytes).toBe(prefix.length * cellBytes(layout));
  await inWide.clear();
  await inWide.restore(wideState);
  expect(await inWide.score(suffix, [7])).toEqual(asText);
  await expect(inNarrow.restore(wideState)).rejects.toMatchObject({ code: 'bad-state' });
  const claimed = { ...wideState, stateIdentity: narrow.info.stateIdentity! };
  await expect(inNarrow.restore(claimed)).rejects.toThrow('the keys of layer 0 have another layout');
  await expect(inNarrow.importCells(await inWide.exportCells())).rejects.toMatchObject({ code: 'bad-state' });
});

test('a checkpoint that names other tokens than its file is refused', async () => {
  await using session = await engine.openSession('tokens');
  await session.evaluate(memories);
  const checkpoint = await session.checkpoint();
  const forged = { ...checkpoint, tokens: checkpoint.tokens.with(3, 99) };
  await expect(session.restore(forged)).rejects.toThrow('its tokens differ from those of the checkpoint');
  await session.restore(checkpointSchema.parse(checkpoint));
  await engine.deleteCheckpoint(checkpoint);
});

test('a forged checkpoint with an infinite number is refused before it reaches a context', async () => {
  await using session = await engine.openSession('forged');
  const question = memories.slice(0, 8);
  const expected = await session.score(question, [7]);
  await session.clear();
  await session.evaluate(memories);
  const checkpoint = await session.checkpoint({ id: 'forged' });
  await session.clear();
  const path = join(checkpointFolder, 'forged.state');
  const bytes = readFileSync(path);
  // The last number of the last layer's values; only parts of other sequences follow.
  bytes.writeUInt16LE(0x7c00, bytes.length - 2);
  writeFileSync(path, bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const restored = session.restore({ ...checkpoint, sha256 });
  await expect(restored).rejects.toMatchObject(errorLike('bad-state', 'keys or values that are not finite numbers'));
  expect(await session.score(question, [7])).toEqual(expected);
  await engine.deleteCheckpoint(checkpoint);
});

test('a checkpoint with a damaged, replaced or missing file is refused despite its intact copy in memory', async () => {
  await using session = await engine.openSession('copied');
  const question = memories.slice(0, 8);
  await session.evaluate(memories);
  const expected = await session.score(question, [7]);
  await session.truncate(memories.length);
  const checkpoint = await session.checkpoint({ id: 'copied' });
  const path = join(checkpointFolder, 'copied.state');
  const bytes = readFileSync(path);
  const restored = async (): Promise<unknown> => {
    await session.restore(checkpoint);
    return session.score(question, [7]);
  };
  expect(await restored()).toEqual(expected);
  writeFileSync(path, bytes.with(bytes.length - 3, bytes.at(-3)! ^ 1));
  await expect(restored()).rejects.toMatchObject({ code: 'bad-state' });
  writeFileSync(path, bytes);
  expect(await restored()).toEqual(expected);
  expect(await restored()).toEqual(expected);
  rmSync(path);
  await expect(restored()).rejects.toThrow('no such KV state');
});

test('unfinished files of killed processes are deleted, those of running ones are not', async () => {
  const folder = scratch.file('left');
  mkdirSync(folder);
  const { pid } = spawnSync('true');
  for (const name of [`a.state.${hostInFileName}-${pid}.partial`, `b.state.${writerInFileName}.partial`, 'c.state']) {
    writeFileSync(join(folder, name), 'KV');
  }
  await using other = await LlamaCppEngine.open(model, { model, checkpointFolder: folder });
  expect(other.info.engine).toBe('llama-cpp');
  expect(readdirSync(folder)).toEqual([`b.state.${writerInFileName}.partial`, 'c.state']);
});

test('leaves no KV on disk: private files end with the call, the folder with the engine', async () => {
  const folders = (): string[] => readdirSync(tmpdir()).filter((name) => name.includes(`-${process.pid}-`));
  const before = folders();
  const own = await LlamaCppEngine.open(model, { model });
  const [folder] = folders().filter((name) => !before.includes(name));
  await using session = await own.openSession('private');
  await session.evaluate(memories);
  await session.importCells(await session.exportCells());
  await session.checkpoint({ id: 'kept' });
  expect(readdirSync(join(tmpdir(), folder!), { recursive: true })).toEqual(['checkpoints', 'checkpoints/kept.state']);
  await own[Symbol.asyncDispose]();
  expect(folders()).toEqual(before);
});

/** Limits the size of files that this process can write; false if not possible here. */
const limitFiles = (bytes: number | 'unlimited'): boolean =>
  spawnSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`]).status === 0;

test('a state that cannot be written completely is an error and leaves nothing behind', async ({ skip }) => {
  // Otherwise signal-exit, used by node-llama-cpp, would end the process. Signals may arrive late, so the listener stays.
  process.on('SIGXFSZ', () => undefined);
  await using session = await engine.openSession('full');
  await session.evaluate(memories);
  const cells = await session.exportCells();
  const { bytes } = await session.checkpoint({ id: 'full' });
  const written = readFileSync(join(checkpointFolder, 'full.state'));
  await engine.deleteCheckpoint({ id: 'full' });
  try {
    // llama.cpp writes the end of a file when closing it, and ignores errors then.
    for (const missing of [1, 4000, bytes / 2, bytes]) {
      skip(!limitFiles(Math.floor(bytes - missing)), 'prlimit is not there to limit the size of files');
      await expect(session.checkpoint({ id: 'full' })).rejects.toMatchObject({ code: 'disk' });
      await expect(session.exportCells()).rejects.toMatchObject({ code: 'disk' });
      await expect(session.importCells(cells)).rejects.toMatchObject({ code: 'disk' });
      expect(readdirSync(checkpointFolder).filter((name) => name.includes('full'))).toEqual([]);
      expect(session.tokens).toEqual(memories);
    }
    limitFiles(bytes);
    await session.checkpoint({ id: 'full' });
    expect(readFileSync(join(checkpointFolder, 'full.state')).equals(written)).toBe(true);
  } finally {
    limitFiles('unlimited');
  }
});

test.each([
  ['text', () => Buffer.from('no model'), 'not a complete GGUF file'],
  ['header cut short', () => readFileSync(model).subarray(0, 2000), 'not a complete GGUF file'],
  ['weights cut short', () => readFileSync(model).subarray(0, 900_000), 'not a complete GGUF file'],
  ['last weights cut short', () => readFileSync(model).subarray(0, -100), 'llama.cpp cannot load it: .*not within'],
  ['no weights', () => tinyGguf(tinyHeader('llama')), 'llama.cpp cannot load it: .*key not found'],
  ['unknown architecture', () => tinyGguf(tinyHeader('nonesuch')), 'llama.cpp cannot load it: .*nonesuch'],
])('a file that is no usable model is refused by name: %s', async (name, bytes, why) => {
  const path = scratch.file(`${name}.gguf`);
  writeFileSync(path, bytes());
  const opened = LlamaCppEngine.open(path, { model: path });
  await expect(opened).rejects.toMatchObject(errorLike('bad-model', new RegExp(`^${path}: ${why}`)));
});
