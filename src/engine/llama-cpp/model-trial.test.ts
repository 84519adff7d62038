import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';
import { TestFolder } from '../../../test/model/bench-fixture.ts';
import { presetModels } from '../../models/preset-models.ts';
import { llamaCpp } from './llama-cpp-adapter.ts';
import { sha256OfModel } from '../gguf/model-file.ts';
import { modelPathOf } from '../gguf/random-model/random-model.ts';
import { isKnownModel, requireTried } from './model-trial.ts';

afterEach(() => vi.unstubAllEnvs());

/** A header's key, and what stands between it and its text: the type, the length. */
const TOKENIZER = 'tokenizer.ggml.model';
const BEFORE_TEXT = 4 + 8;

it('a well-formed model on which llama.cpp ends its process is refused in one line, and not remembered as tried', async () => {
  using folder = new TestFolder();
  vi.stubEnv('DKI_BENCH_CACHE', folder.file('cache'));
  const bytes = Buffer.from(readFileSync(await modelPathOf('random:tiny-llama')));
  // A tokenizer whose vocabulary has a token for what it does not know: this one names none.
  bytes.write('rwkv', bytes.indexOf(TOKENIZER) + TOKENIZER.length + BEFORE_TEXT);
  const model = folder.file('hostile.gguf');
  writeFileSync(model, bytes);
  const opener = llamaCpp.opener({});
  expect((await opener.inspect(model)).model.layers).toBeGreaterThan(0);
  await expect(opener.open({ model })).rejects.toMatchObject({
    code: 'bad-model',
    message: expect.stringMatching(/^\S+hostile\.gguf: llama\.cpp crashed on it \(.+\)$/) as string,
  });
  expect(isKnownModel(await sha256OfModel(model, undefined))).toBe(false);
});

it('a model that nobody knows is tried once, and what hangs is ended', async () => {
  using folder = new TestFolder();
  vi.stubEnv('DKI_BENCH_CACHE', folder.file('cache'));
  const bytes = Buffer.from(readFileSync(await modelPathOf('random:tiny-llama')));
  bytes.write('RANDOM', bytes.indexOf('random'));
  const model = folder.file('unknown.gguf');
  writeFileSync(model, bytes);
  const sha256 = await sha256OfModel(model, undefined);
  const atOnce = { llamaCpp: {}, timeoutMs: 1 };
  await expect(requireTried(model, sha256, atOnce)).rejects.toMatchObject({
    code: 'bad-model',
    message: `${model}: llama.cpp did not load it and answer within 0 s, and was ended`,
  });
  await using engine = await llamaCpp.opener({}).open({ model });
  expect(engine.info.modelSha256).toBe(sha256);
  await requireTried(model, sha256, atOnce);
  await requireTried(presetModels.model, await sha256OfModel(presetModels.model, undefined), atOnce);
});
