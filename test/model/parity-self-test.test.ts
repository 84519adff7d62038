import { afterAll, expect, test } from 'vitest';
import { selectEngine } from '../../src/bench/select-engine.ts';
import { presetModels } from '../../src/models/default-models.ts';
import { openFakeEngine } from '../fixtures/fake-engine/fake-engine.ts';
import { replacing } from '../fixtures/replacing.ts';
import { paritySelfTest } from '../../src/eval/run/prove/engine-self-tests.ts';

const engine = await selectEngine().open({ model: presetModels.model });
afterAll(() => engine[Symbol.asyncDispose]());

const idsOf = (texts: readonly string[]) => engine.tokenize(texts.map((text) => ({ text, as: 'text' })));

test('a prompt evaluated in pieces gives the bits of the whole one', async () => {
  const [short, long, continuation] = await idsOf([
    '[1] My sister Ann lives in Leeds.\n\nUser: Where does Ann live?\n\nAI:',
    `${'[1] I walk to work, past the old mill.\n'.repeat(50)}\nUser: How do I get to work?\n\nAI:`,
    ' In Leeds.',
  ]);
  expect(long!.length).toBeGreaterThan(512);
  const prompts = [short!, long!].map((prompt) => ({ prompt, continuation: continuation! }));
  const result = await paritySelfTest(engine, prompts);
  const equal = { bitwiseEqual: true, largestDifference: 0 };
  expect(result).toEqual({ prompts: 2, cuts: 6, ...equal, repeated: { evaluations: 1, ...equal } });
});

test('of a slow model as many prompts are tested as the budget allows, and the result says how many', async () => {
  const [prompt, continuation] = await idsOf(['[1] Ann lives in Leeds.\n\nUser: Where?\n\nAI:', ' In Leeds.']);
  const prompts = Array.from({ length: 6 }, () => ({ prompt: prompt!, continuation: continuation! }));
  const steps: string[] = [];
  const onPrompt = (done: number, total: number): number => steps.push(`${done} of ${total}`);
  expect(await paritySelfTest(engine, prompts, { budgetOf: () => 0, onPrompt })).toMatchObject({
    prompts: 4,
    cuts: 12,
  });
  expect(steps).toEqual(['1 of 4', '2 of 4', '3 of 4', '4 of 4']);
  expect(await paritySelfTest(engine, prompts)).toMatchObject({ prompts: 6, cuts: 18 });
});

test('a prompt of five tokens has two cuts without a single token, one of three none', async () => {
  const [tokens] = await idsOf(['one two three four five six']);
  const test = (length: number) => paritySelfTest(engine, [{ prompt: tokens!.slice(0, length), continuation: [7] }]);
  expect((await test(5)).cuts).toBe(2);
  await expect(test(3)).rejects.toThrow('a prompt of 3 tokens');
});

test('an engine that reads less of a prompt in pieces is found out', async () => {
  await using fake = openFakeEngine();
  const forgetful = replacing(fake, {
    openSession: async (scope) => {
      const session = await fake.openSession(scope);
      return replacing(session, { evaluate: (tokens) => session.evaluate(tokens.slice(1)) });
    },
  });
  const prompts = [{ prompt: Array.from({ length: 12 }, (_, index) => 60 + index), continuation: [61, 62] }];
  expect(await paritySelfTest(fake, prompts)).toMatchObject({ bitwiseEqual: true });
  const { bitwiseEqual, largestDifference } = await paritySelfTest(forgetful, prompts);
  expect([bitwiseEqual, largestDifference > 0.01]).toEqual([false, true]);
});

test('an engine that computes otherwise from run to run is found out', async () => {
  await using fake = openFakeEngine();
  let scored = 0;
  const restless = replacing(fake, {
    openSession: async (scope) => {
      const session = await fake.openSession(scope);
      // The third score is that of the first prompt, whole again.
      return replacing(session, {
        score: async (tokens, continuation) => {
          const score = await session.score(tokens, continuation);
          const noise = ++scored === 3 ? 1e-7 : 0;
          return { ...score, logProbabilities: score.logProbabilities.map((value) => value + noise) };
        },
      });
    },
  });
  const prompt = Array.from({ length: 12 }, (_, index) => 60 + index);
  const { bitwiseEqual, repeated, cuts } = await paritySelfTest(restless, [{ prompt, continuation: [61, 62] }]);
  expect([cuts, scored, bitwiseEqual]).toEqual([3, 3, false]);
  expect(repeated).toMatchObject({ evaluations: 1, bitwiseEqual: false });
  expect(repeated!.largestDifference).toBeCloseTo(1e-7, 9);
});

test('flash attention repeats itself, and is not called bitwise', async () => {
  await using other = await selectEngine({ flashAttention: 'on' }).open({ model: presetModels.model });
  const [prompt, continuation] = await idsOf([
    `${'[1] I walk to work, past the old mill.\n'.repeat(8)}\nUser: How do I get to work?\n\nAI:`,
    ' Past the mill.',
  ]);
  const prompts = [{ prompt: prompt!, continuation: continuation! }];
  const { bitwiseEqual, largestDifference, repeated } = await paritySelfTest(other, prompts);
  expect([bitwiseEqual, repeated?.bitwiseEqual]).toEqual([false, true]);
  expect(largestDifference).toBeLessThan(0.1);
});
