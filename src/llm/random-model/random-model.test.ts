import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { describe, expect, test } from 'vitest';
import { LanguageModel } from '../language-model.ts';
import { modelShapes } from './model-shapes.ts';
import { modelTensors } from './model-tensors.ts';
import { modelPathOf } from './random-model.ts';

const shapes = ['tiny-llama', 'tiny-llama-rope-freqs', 'tiny-qwen2', 'tiny-qwen3'];

describe.each(shapes)('random:%s', (shape) => {
  test('loads in llama.cpp, reads any text, and gives probabilities that depend on it', async () => {
    await using model = await LanguageModel.load({ modelPath: await modelPathOf(`random:${shape}`) });
    expect(model.info).toMatchObject({
      name: `random:${shape}`,
      architecture: /qwen\d|llama/.exec(shape)![0],
      vocabularySize: 2560,
      layers: 3,
      kvHeads: 2,
      headDimension: shape === 'tiny-qwen3' ? 32 : 16,
      bosToken: shape.includes('llama') ? 0 : undefined,
      eosToken: 1,
    });
    const text = 'User: What is my dog called? 狗🙂\n\nAI:';
    const tokens = model.tokenizeText(text);
    expect(model.detokenize(tokens)).toBe(text);
    expect(model.detokenize([2559])).toBe(' r2559');

    await using sequence = model.openSequence();
    const { nextProbabilities } = await sequence.score(tokens, [5]);
    const largest = Math.max(...nextProbabilities);
    expect(largest).toBeGreaterThan(0.003);
    expect(largest).toBeLessThan(0.99);
    await sequence.clear();
    const other = await sequence.score([tokens[1]!, tokens[0]!, ...tokens.slice(2)], [5]);
    expect(other.nextProbabilities).not.toEqual(nextProbabilities);
  });
});

test("the factors of rope_freqs are Llama 3's", async () => {
  const modelPath = await modelPathOf('random:tiny-llama-rope-freqs');
  await using model = await LanguageModel.load({ modelPath });
  // Wavelengths 2π·10000^(j/8): 6, 20, 63 below 512/4; 199 between; 628, 1987, … above 512.
  const smooth = (512 / (2 * Math.PI * 10_000 ** (3 / 8)) - 1) / 3;
  const between = 1 / ((1 - smooth) / 8 + smooth);
  expect(model.info.rope.frequencyFactors).toEqual([1, 1, 1, Math.fround(between), 8, 8, 8, 8]);
});

test('weights are the same on every machine; whoever changes them raises the recipe', () => {
  const hash = createHash('sha256');
  for (const { dimensions, fill } of modelTensors(modelShapes['tiny-llama'], xoroshiro128plus(7))) {
    const words = new Uint32Array(dimensions.reduce((product, dimension) => product * dimension));
    fill(words);
    hash.update(words);
  }
  expect(hash.digest('hex')).toBe('2ae9af51fd290b432f91eaceaea99cf6fb15df0c468445767d3ad4c1212d7b3b');
});

test('a model is made once', async () => {
  const path = await modelPathOf('random:tiny-llama');
  const before = statSync(path);
  expect(await modelPathOf('random:tiny-llama')).toBe(path);
  expect(statSync(path).ino).toBe(before.ino);
});

test('any other name is a path', async () => {
  expect(await modelPathOf('some/model.gguf')).toBe('some/model.gguf');
});

test.each(['tiny-lama', 'hasOwnProperty'])('the unknown shape %s is refused, with the known ones', async (shape) => {
  await expect(modelPathOf(`random:${shape}`)).rejects.toMatchObject({
    code: 'bad-option',
    message: `unknown random model "${shape}"${shape === 'tiny-lama' ? ': did you mean tiny-llama?' : ''}`,
    hint: expect.stringContaining('random:qwen2.5-0.5b') as string,
  });
});
