import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { errorLike } from '../../../test/fixtures/error-like.ts';
import { folderOfEachTest } from '../../../test/fixtures/folder-of-each-test.ts';
import { presetModels } from '../../models/default-models.ts';
import { llamaCpp } from './llama-cpp-adapter.ts';
import { hashModelFile } from '../gguf/model-file.ts';
import { randomModelPath } from '../gguf/random-model/random-model.ts';
import { isKnownModel, requireModelTrial } from './fork-model-trial.ts';
import { tryModel } from './try-model.ts';

const folder = folderOfEachTest();
beforeEach(() => void vi.stubEnv('DKI_BENCH_CACHE', folder.file('cache')));
afterEach(() => void vi.unstubAllEnvs());

/** A model of random weights with some of its bytes changed. */
async function changedModel(name: string, change: (bytes: Buffer) => unknown): Promise<string> {
  const bytes = Buffer.from(readFileSync(await randomModelPath('random:tiny-llama')));
  change(bytes);
  writeFileSync(folder.file(name), bytes);
  return folder.file(name);
}

/** A metadata key, and the bytes between it and its text: type and length. */
const TOKENIZER = 'tokenizer.ggml.model';
const BEFORE_TEXT = 4 + 8;

it('a well-formed model that crashes llama.cpp is refused in one line, and not recorded as tried', async () => {
  // This tokenizer needs an unknown token in its vocabulary, and there is none.
  const model = await changedModel('hostile.gguf', (bytes) =>
    bytes.write('rwkv', bytes.indexOf(TOKENIZER) + TOKENIZER.length + BEFORE_TEXT),
  );
  const opener = llamaCpp.opener({});
  expect((await opener.inspect(model)).model.layers).toBeGreaterThan(0);
  const crashed = errorLike('bad-model', /^\S+hostile\.gguf: llama\.cpp crashed on it \(.+\)$/);
  await expect(opener.open({ model })).rejects.toMatchObject(crashed);
  expect(isKnownModel(await hashModelFile(model, undefined))).toBe(false);
});

it('an unknown model is tried once, and a trial that hangs is killed', async () => {
  const model = await changedModel('unknown.gguf', (bytes) => bytes.write('RANDOM', bytes.indexOf('random')));
  const sha256 = await hashModelFile(model, undefined);
  const mapConcurrently = { llamaCpp: {}, timeoutMs: 1 };
  const message = `${model}: llama.cpp did not load it and answer within 0 s`;
  await expect(requireModelTrial(model, sha256, mapConcurrently)).rejects.toMatchObject({ code: 'bad-model', message });
  await using engine = await llamaCpp.opener({}).open({ model });
  expect(engine.info.modelSha256).toBe(sha256);
  await requireModelTrial(model, sha256, mapConcurrently);
  await requireModelTrial(presetModels.model, await hashModelFile(presetModels.model, undefined), mapConcurrently);
});

it.each([
  ['the last half of its weights', 0.5, 1],
  // In a middle layer: makes the probabilities of this prompt NaN, even if its keys are finite.
  ['a few weights', 0.7, 0.001],
])('a model with NaN in %s is refused', async (_, from, share) => {
  const model = await changedModel('nan.gguf', (bytes) => {
    const start = 4 * Math.floor((from * bytes.length) / 4);
    bytes.fill(0xff, start, Math.min(bytes.length, start + 4 * Math.ceil((share * bytes.length) / 4)));
  });
  const useless = errorLike('bad-model', /nan\.gguf: llama\.cpp cannot answer with it: it computes /);
  expect(await tryModel(model, {})).toMatchObject(useless);
  expect(await tryModel(await randomModelPath('random:tiny-llama'), {})).toBeNull();
});
