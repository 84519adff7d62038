import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { afterEach, expect, it, vi } from 'vitest';
import { HubServer } from '../../../test/fixtures/hub-server.ts';
import { tinyGguf, tinyHeader } from '../../../test/fixtures/tiny-gguf.ts';
import { TestFolder } from '../../../test/model/bench-fixture.ts';
import { llamaCpp } from '../llama-cpp/llama-cpp-adapter.ts';
import { readGgufHeader } from './gguf-header.ts';
import { missingCapabilities } from './model-description.ts';
import { checkModelFile, modelFileOf, requireCapacity, sha256OfModel } from './model-file.ts';
import { modelPathOf } from './random-model/random-model.ts';

afterEach(() => vi.unstubAllEnvs());

it('a model of the hub is fetched, loads, and is found again', async () => {
  using folder = new TestFolder();
  const bytes = readFileSync(await modelPathOf('random:tiny-llama'));
  await using server = await HubServer.start({ 'org/tiny/main/tiny.gguf': bytes });
  vi.stubEnv('HF_ENDPOINT', server.endpoint);
  vi.stubEnv('XDG_CACHE_HOME', folder.path);
  const opener = llamaCpp.opener({});
  await opener.fetch('hf:org/tiny/tiny.gguf');
  await using engine = await opener.open({ model: 'hf:org/tiny/tiny.gguf' });
  expect(engine.info.model.name).toBe('random:tiny-llama');
  const path = await modelFileOf('hf:org/tiny/tiny.gguf');
  await server[Symbol.asyncDispose]();
  expect(await modelFileOf('hf:org/tiny/tiny.gguf')).toBe(path);
  await expect(modelFileOf('hf:org/tiny/other.gguf')).rejects.toMatchObject({ code: 'network' });
});

it('what is not there, and what is no whole model, is refused by name', async () => {
  using folder = new TestFolder();
  await using server = await HubServer.start({});
  vi.stubEnv('HF_ENDPOINT', server.endpoint);
  vi.stubEnv('XDG_CACHE_HOME', folder.path);
  await expect(modelFileOf('hf:org/tiny/tiny.gguf')).rejects.toMatchObject({
    code: 'not-found',
    message: '--model hf:org/tiny/tiny.gguf: the hub has no such file',
  });
  const part = 'hf:org/big/b-00001-of-00003.gguf';
  const why = 'one part of a model that is split into several files';
  await expect(modelFileOf('hf:org/tiny')).rejects.toThrow(/^--model hf:org\/tiny: names no GGUF file$/);
  await expect(modelFileOf(part)).rejects.toMatchObject({ message: `--model ${part}: ${why}` });
  expect(await modelFileOf('some/model.gguf')).toBe('some/model.gguf');
});

it('KV that the free memory cannot hold and threads without a core are refused, and what would fit is named', () => {
  const window = { contextTokens: 1000, cellTokens: 2000 };
  const require = (freeBytes: number, threads = 1) =>
    requireCapacity({ sessions: 3, kvType: 'F16', threads }, window, { kvNumbersPerToken: 2 ** 18 }, freeBytes);
  const kvBytes = 3 * 2000 * 2 ** 18 * 2;
  const fits = kvBytes + 2 ** 28;
  expect(() => require(fits)).not.toThrow();
  expect(() => require(fits - kvBytes / 2)).toThrow(
    expect.objectContaining({
      code: 'bad-option',
      message:
        '--context-tokens 1000: the KV of 3 × 2000 tokens takes 2.9 GiB, and 1.5 GiB of memory are free beside the weights',
      hint: 'give 500 at most',
    }),
  );
  const cores = availableParallelism();
  expect(() => require(fits, cores)).not.toThrow();
  expect(() => require(fits, cores + 1)).toThrow(
    expect.objectContaining({ message: `--threads ${cores + 1}: this machine has ${cores} cores` }),
  );
});

it('a model is opened with no more threads and tokens than the machine can hold', async () => {
  const opener = llamaCpp.opener({});
  const model = 'random:tiny-llama';
  await expect(opener.open({ model, contextTokens: 2 ** 31 - 1 })).rejects.toThrow(
    /^--context-tokens 2147483647: the KV /,
  );
  await expect(opener.open({ model, threads: 1_000_000_000 })).rejects.toThrow(/^--threads 1000000000: /);
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
  const header = readGgufHeader(first);
  expect(header).toMatchObject({ parameters: 7, parts: 2, rotary: { factors: [1, 0.5, 8, 32] } });
  expect(missingCapabilities(header).firstLayers).toBe('it is split into 2 files');
  const bytes = Buffer.concat(parts.map((part) => readFileSync(part)));
  expect(checkModelFile(first, Infinity)).toBe(bytes.length);
  const hash = await sha256OfModel(first, undefined);
  expect(hash).toBe(createHash('sha256').update(bytes).digest('hex'));
  write(64);
  expect(await sha256OfModel(first, undefined)).not.toBe(hash);
  expect(() => readGgufHeader(parts[1]!)).toThrow(
    expect.objectContaining({ message: `${parts[1]!}: part 2 of 2 of a model`, hint: `name ${first}` }),
  );
  rmSync(parts[1]!);
  expect(() => checkModelFile(first, Infinity)).toThrow(`${parts[1]!}: no such model file`);
});
