import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';
import { HubServer } from '../../../test/fixtures/hub-server.ts';
import { tinyGguf, tinyHeader } from '../../../test/fixtures/tiny-gguf.ts';
import { TestFolder } from '../../../test/model/bench-fixture.ts';
import { llamaCpp } from '../llama-cpp/llama-cpp-adapter.ts';
import { readModelHeader } from './model-header.ts';
import { missingCapabilities } from './missing-capabilities.ts';
import { checkModelFile, hashModelFile, resolveModelFile } from './model-file.ts';
import { randomModelPath } from './random-model/random-model.ts';

afterEach(() => vi.unstubAllEnvs());

it('a model of the hub is downloaded, loads, and is cached', async () => {
  using folder = new TestFolder();
  const bytes = readFileSync(await randomModelPath('random:tiny-llama'));
  await using server = await HubServer.start({ 'org/tiny/main/tiny.gguf': bytes });
  vi.stubEnv('HF_ENDPOINT', server.endpoint);
  vi.stubEnv('XDG_CACHE_HOME', folder.path);
  const opener = llamaCpp.opener({});
  await opener.fetch('hf:org/tiny/tiny.gguf');
  await using engine = await opener.open({ model: 'hf:org/tiny/tiny.gguf' });
  expect(engine.info.model.name).toBe('random:tiny-llama');
  const path = await resolveModelFile('hf:org/tiny/tiny.gguf');
  await server[Symbol.asyncDispose]();
  expect(await resolveModelFile('hf:org/tiny/tiny.gguf')).toBe(path);
  await expect(resolveModelFile('hf:org/tiny/other.gguf')).rejects.toMatchObject({ code: 'network' });
});

it('a missing file, another file and a part of a split model are refused by name', async () => {
  using folder = new TestFolder();
  await using server = await HubServer.start({});
  vi.stubEnv('HF_ENDPOINT', server.endpoint);
  vi.stubEnv('XDG_CACHE_HOME', folder.path);
  await expect(resolveModelFile('hf:org/tiny/tiny.gguf')).rejects.toMatchObject({
    code: 'not-found',
    message: '--model hf:org/tiny/tiny.gguf: the hub has no such file',
  });
  const part = 'hf:org/big/b-00001-of-00003.gguf';
  const why = 'one part of a model that is split into several files';
  await expect(resolveModelFile('hf:org/tiny')).rejects.toThrow(/^--model hf:org\/tiny: names no GGUF file$/);
  await expect(resolveModelFile(part)).rejects.toMatchObject({ message: `--model ${part}: ${why}` });
  expect(await resolveModelFile('some/model.gguf')).toBe('some/model.gguf');
});

it('a model of several parts is hashed and counted as a whole, and is named by the first', async () => {
  using folder = new TestFolder();
  const parts = [1, 2].map((index) => folder.file(`m-0000${index}-of-00002.gguf`));
  const write = (second: number): void => {
    writeFileSync(parts[0]!, tinyGguf(tinyHeader('llama'), { 'output_norm.weight': [1, 2, 3] }));
    writeFileSync(parts[1]!, tinyGguf({}, { 'rope_freqs.weight': [1, 0.5, 8, second] }));
  };
  write(32);
  const [first = ''] = parts;
  const header = readModelHeader(first);
  expect(header).toMatchObject({ parameters: 7, parts: 2, rotary: { factors: [1, 0.5, 8, 32] } });
  expect(missingCapabilities(header, { contextTokens: 4096 }).firstLayers).toBe('it is split into 2 files');
  const bytes = Buffer.concat(parts.map((part) => readFileSync(part)));
  expect(checkModelFile(first, Infinity)).toBe(bytes.length);
  const hash = await hashModelFile(first, undefined);
  expect(hash).toBe(createHash('sha256').update(bytes).digest('hex'));
  write(64);
  expect(await hashModelFile(first, undefined)).not.toBe(hash);
  expect(() => readModelHeader(parts[1]!)).toThrow(
    expect.objectContaining({ message: `${parts[1]!}: part 2 of 2 of a model`, hint: `name the first part: ${first}` }),
  );
  rmSync(parts[1]!);
  expect(() => checkModelFile(first, Infinity)).toThrow(`${parts[1]!}: no such model file`);
});

it('refuses a file that is not there, a folder, and one larger than free memory', () => {
  using folder = new TestFolder();
  const path = folder.file('model.gguf');
  expect(() => checkModelFile(path, 1e9)).toThrow(`${path}: no such model file`);
  expect(() => checkModelFile(folder.path, 1e9)).toThrow(`${folder.path}: no such model file`);
  writeFileSync(path, Buffer.alloc(1000));
  expect(checkModelFile(path, 1000)).toBe(1000);
  expect(() => checkModelFile(path, 999)).toThrow(`${path}: 1000 bytes, but only 999 bytes of memory are free`);
});
