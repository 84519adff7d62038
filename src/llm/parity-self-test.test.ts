import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LanguageModel } from './language-model.ts';
import { paritySelfTest } from './parity-self-test.ts';

const modelPath = fileURLToPath(new URL('../../models/recall-en/recall-en-q8_0.gguf', import.meta.url));

let model: LanguageModel;
beforeAll(async () => {
  model = await LanguageModel.load({ modelPath });
});
afterAll(() => model.dispose());

test('a prompt evaluated in pieces gives the bits of the whole one', async () => {
  const prompts = [
    '[1] My sister Ann lives in Leeds.\n\nUser: Where does Ann live?\n\nAI:',
    `${'[1] I walk to work, past the old mill.\n'.repeat(50)}\nUser: How do I get to work?\n\nAI:`,
  ].map((text) => model.tokenizeText(text));
  expect(prompts[1]!.length).toBeGreaterThan(512);
  const result = await paritySelfTest(model, prompts, model.tokenizeText(' In Leeds.'));
  expect(result).toEqual({ prompts: 2, cuts: 6, bitwiseEqual: true, largestDifference: 0 });
});

test('a prompt of five tokens has two cuts without a single token, one of three none', async () => {
  const tokens = model.tokenizeText('one two three four five six').slice(0, 5);
  expect((await paritySelfTest(model, [tokens], [7])).cuts).toBe(2);
  await expect(paritySelfTest(model, [tokens.slice(0, 3)], [7])).rejects.toThrow('a prompt of 3 tokens');
});
