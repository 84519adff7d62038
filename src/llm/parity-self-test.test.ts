import { afterAll, beforeAll, expect, test } from 'vitest';
import { presetModels } from '../config/shipped-models.ts';
import { LanguageModel } from './language-model.ts';
import { paritySelfTest } from './parity-self-test.ts';

const modelPath = presetModels.model;

let model: LanguageModel;
beforeAll(async () => {
  model = await LanguageModel.load({ modelPath });
});
afterAll(() => model.dispose());

test('a prompt evaluated in pieces gives the bits of the whole one', async () => {
  const prompts = [
    '[1] My sister Ann lives in Leeds.\n\nUser: Where does Ann live?\n\nAI:',
    `${'[1] I walk to work, past the old mill.\n'.repeat(50)}\nUser: How do I get to work?\n\nAI:`,
  ].map((text) => ({ prompt: model.tokenizeText(text), continuation: model.tokenizeText(' In Leeds.') }));
  expect(prompts[1]!.prompt.length).toBeGreaterThan(512);
  const result = await paritySelfTest(model, prompts);
  expect(result).toEqual({ prompts: 2, cuts: 6, bitwiseEqual: true, largestDifference: 0 });
});

test('a prompt of five tokens has two cuts without a single token, one of three none', async () => {
  const tokens = model.tokenizeText('one two three four five six').slice(0, 5);
  const continuation = [7];
  expect((await paritySelfTest(model, [{ prompt: tokens, continuation }])).cuts).toBe(2);
  await expect(paritySelfTest(model, [{ prompt: tokens.slice(0, 3), continuation }])).rejects.toThrow(
    'a prompt of 3 tokens',
  );
});
