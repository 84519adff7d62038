import { readFileSync } from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';
import { HubServer } from '../../../test/fixtures/hub-server.ts';
import { TestFolder } from '../../../test/model/bench-fixture.ts';
import { llamaCpp } from '../llama-cpp/llama-cpp-adapter.ts';
import { modelFileOf } from './model-file.ts';
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
