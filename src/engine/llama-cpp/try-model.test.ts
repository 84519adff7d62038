import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TestFolder } from '../../../test/model/bench-fixture.ts';
import { modelPathOf } from '../gguf/random-model/random-model.ts';
import { tryModel } from './try-model.ts';

it.each([
  ['the last half of its numbers', 0.5, 1],
  // A layer in the middle: the probabilities of this prompt are none then, whatever its keys are.
  ['a few of them', 0.7, 0.001],
])('a model of which %s are no numbers is refused', async (_, from, share) => {
  using folder = new TestFolder();
  const bytes = Buffer.from(readFileSync(await modelPathOf('random:tiny-llama')));
  const start = 4 * Math.floor((from * bytes.length) / 4);
  bytes.fill(0xff, start, Math.min(bytes.length, start + 4 * Math.ceil((share * bytes.length) / 4)));
  const model = folder.file('nan.gguf');
  writeFileSync(model, bytes);
  expect(await tryModel(model, {})).toMatchObject({
    code: 'bad-model',
    message: expect.stringMatching(/nan\.gguf: llama\.cpp cannot answer with it: it computes /) as string,
  });
  expect(await tryModel(await modelPathOf('random:tiny-llama'), {})).toBeNull();
});
