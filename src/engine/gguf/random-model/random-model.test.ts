import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { expect, test } from 'vitest';
import { likeliestTokens } from '../../sequence-score.ts';
import { llamaCpp } from '../../llama-cpp/llama-cpp-adapter.ts';
import { modelShapes } from './model-shapes.ts';
import { modelTensors } from './model-tensors.ts';
import { randomModelPath } from './random-model.ts';

test.each(['tiny-llama', 'tiny-llama-rope-freqs', 'tiny-qwen2', 'tiny-qwen3'])(
  'random:%s loads in llama.cpp, reads any text, and gives probabilities that depend on it',
  async (shape) => {
    const model = `random:${shape}`;
    await using engine = await llamaCpp.opener({}).open({ model });
    const headDimension = shape === 'tiny-qwen3' ? 32 : 16;
    const { info, capabilities } = engine;
    const architecture = /qwen\d|llama/.exec(shape)![0];
    expect(info.model).toMatchObject({ name: model, architecture, vocabularySize: 2560 });
    expect(capabilities.cells!.layout).toMatchObject({ layers: 3, heads: 2, headDimension });
    expect([info.bosToken, info.endTokens]).toEqual([shape.includes('llama') ? 0 : null, [1]]);
    const text = 'User: What is my dog called? 狗🙂\n\nAI:';
    const [tokens] = await engine.tokenize([{ text, as: 'text' }]);
    expect(await engine.detokenize([tokens!, [2559]])).toEqual([text, ' r2559']);

    await using session = await engine.openSession('test');
    const { next } = await session.score(tokens!, [5]);
    const [likeliest] = likeliestTokens(next, 1);
    expect(likeliest!.probability).toBeGreaterThan(0.003);
    expect(likeliest!.probability).toBeLessThan(0.99);
    await session.clear();
    const other = await session.score([tokens![1]!, tokens![0]!, ...tokens!.slice(2)], [5]);
    expect(other.next).not.toEqual(next);
  },
);

test('weights are the same on every machine; raise RECIPE when they change', () => {
  const hash = createHash('sha256');
  for (const { dimensions, fill } of modelTensors(modelShapes['tiny-llama'], xoroshiro128plus(7))) {
    const words = new Uint32Array(dimensions.reduce((product, dimension) => product * dimension));
    fill(words);
    hash.update(words);
  }
  expect(hash.digest('hex')).toBe('2ae9af51fd290b432f91eaceaea99cf6fb15df0c468445767d3ad4c1212d7b3b');
});

test('a model is generated once', async () => {
  const path = await randomModelPath('random:tiny-llama');
  const before = statSync(path);
  expect(await randomModelPath('random:tiny-llama')).toBe(path);
  expect(statSync(path).ino).toBe(before.ino);
});

test.each(['tiny-lama', 'hasOwnProperty'])('the unknown shape %s is refused, with the known ones', async (shape) => {
  await expect(randomModelPath(`random:${shape}`)).rejects.toMatchObject({
    code: 'bad-option',
    message: `unknown random model "${shape}"${shape === 'tiny-lama' ? ': did you mean tiny-llama?' : ''}`,
    hint: expect.stringContaining('random:qwen2.5-0.5b') as string,
  });
});
