import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { presetModels } from '../config/shipped-models.ts';
import { LanguageModel } from './language-model.ts';
import type { TokenId } from './model-info.ts';
import type { ModelSequence } from './model-sequence.ts';

const modelPath = presetModels.model;
const WINDOW = 1024;

let model: LanguageModel;
let sequence: ModelSequence;
let prompt: readonly TokenId[];
beforeAll(async () => {
  model = await LanguageModel.load({ modelPath, contextTokens: WINDOW });
  const text =
    'Relevant information:\n[1] My sister Ann lives in Leeds.\n[2] I have a cat.\n\nUser: Where does Ann live?\n\nAI:';
  prompt = [model.info.bosToken ?? 0, ...model.tokenizeText(text)];
});
afterAll(() => model.dispose());
beforeEach(() => {
  sequence = model.openSequence();
});
afterEach(() => sequence.dispose());

/** Any tokens of the vocabulary, `count` of them. */
function filler(count: number): TokenId[] {
  return Array.from({ length: count }, (_, index) => 20 + ((index * 37) % (model.info.vocabularySize - 20)));
}

describe('evaluate', () => {
  test('fills the sequence, in chunks where the text is long', async () => {
    await sequence.evaluate(filler(513));
    expect(sequence.tokens).toEqual(filler(513));
    expect([sequence.nextPosition, sequence.cells]).toEqual([513, 513]);
  });

  test('refuses a single token, and takes none for nothing to do', async () => {
    await expect(sequence.evaluate([5])).rejects.toThrow(RangeError);
    await sequence.evaluate([]);
    expect(sequence.meter).toEqual({ inputTokens: 0, outputTokens: 0 });
  });
});

describe('generate', () => {
  test('is repeatable, and leaves the prompt and what was evaluated of the answer', async () => {
    const first = await sequence.generate(prompt, { maxTokens: 8 });
    const evaluated = first.tokens.slice(0, first.generatingPasses);
    expect(sequence.tokens).toEqual([...prompt, ...evaluated]);
    await sequence.clear();
    const second = await sequence.generate(prompt, { maxTokens: 8 });
    expect(second.tokens).toEqual(first.tokens);
    expect(second.text).toBe(model.detokenize(first.tokens).trimStart());
    expect(second.prefillMs).toBeLessThanOrEqual(second.firstTokenMs);
  });

  test('takes the likeliest token at each step', async () => {
    const { tokens } = await sequence.generate(prompt, { maxTokens: 4 });
    await sequence.clear();
    const { nextProbabilities } = await sequence.score(prompt, tokens);
    expect(nextProbabilities.indexOf(Math.max(...nextProbabilities))).toBe(tokens[0]);
  });

  test('ends at the limit', async () => {
    const { stop, tokens, generatingPasses } = await sequence.generate(prompt, { maxTokens: 2 });
    expect([stop, tokens.length, generatingPasses]).toEqual(['length', 2, 1]);
  });

  test('ends at the end of text, which is no token of the answer', async () => {
    const { stop, tokens, generatingPasses } = await sequence.generate(prompt, { maxTokens: 200 });
    expect(stop).toBe('end-of-text');
    expect(tokens).not.toContain(model.info.eosToken);
    expect(generatingPasses).toBe(tokens.length);
  });

  test('ends at a stop text and cuts it off', async () => {
    const whole = await sequence.generate(prompt, { maxTokens: 20 });
    const stopText = whole.text.slice(2, 4);
    expect(stopText).toHaveLength(2);
    await sequence.clear();
    const cut = await sequence.generate(prompt, { maxTokens: 20, stopTexts: ['\nUser:', stopText] });
    expect([cut.stop, cut.text]).toEqual(['stop-text', whole.text.slice(0, whole.text.indexOf(stopText))]);
    expect(cut.generatingPasses).toBe(cut.tokens.length - 1);
  });

  test('samples by seed above temperature 0', async () => {
    const sample = async (seed: number): Promise<readonly TokenId[]> => {
      await sequence.clear();
      return (await sequence.generate(filler(12), { maxTokens: 12, temperature: 3, seed })).tokens;
    };
    const [one, again, other] = [await sample(1), await sample(1), await sample(2)];
    expect(again).toEqual(one);
    expect(other).not.toEqual(one);
  });
});

describe('score', () => {
  test('is a distribution, agrees with itself bit by bit, and with scoring one token at a time', async () => {
    const gold = model.tokenizeText(' In Leeds.');
    const first = await sequence.score(prompt, gold);
    expect(first.nextProbabilities.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 4);
    expect(first.logProbabilities[0]).toBe(Math.log(first.nextProbabilities[gold[0]!]!));
    expect(sequence.tokens).toEqual([...prompt, ...gold.slice(0, -1)]);
    await sequence.clear();
    expect(await sequence.score(prompt, gold)).toEqual(first);
    await sequence.clear();
    const stepwise = await sequence.score([...prompt, gold[0]!], gold.slice(1));
    expect(stepwise.logProbabilities[0]).toBeCloseTo(first.logProbabilities[1]!, 3);
  });

  test('does not depend on how the text fell into chunks', async () => {
    const gold = model.tokenizeText(' In Leeds.');
    // Two tokens more than a batch: the positions that are read would fall into two chunks.
    const long = [...filler(514 - gold.length - prompt.length), ...prompt];
    const whole = await sequence.score(long, gold);
    await sequence.clear();
    await sequence.evaluate(long.slice(0, 300));
    expect(await sequence.score(long.slice(300), gold)).toEqual(whole);
  });

  test('refuses nothing to score, and nothing to score after', async () => {
    await expect(sequence.score(prompt, [])).rejects.toThrow('the continuation to score is empty');
    await expect(sequence.score([5], [6])).rejects.toThrow('1 tokens to score after');
  });
});

test('nextTokenEntropy is that of the probabilities', async () => {
  const { nextProbabilities } = await sequence.score(prompt, [model.info.eosToken!]);
  await sequence.clear();
  const nats = nextProbabilities.reduce((sum, p) => (p > 0 ? sum - p * Math.log(p) : sum), 0);
  expect(await sequence.nextTokenEntropy(prompt)).toBeCloseTo(nats / Math.log(model.info.vocabularySize), 12);
});

describe('truncate', () => {
  test('what follows is bitwise what it would have been', async () => {
    const rest = prompt.slice(10);
    const fresh = await sequence.score(prompt, [7, 8]);
    await sequence.clear();
    await sequence.evaluate(prompt.slice(0, 10));
    await sequence.generate(filler(20), { maxTokens: 4 });
    await sequence.truncate(10);
    expect(sequence.tokens).toEqual(prompt.slice(0, 10));
    expect(await sequence.score(rest, [7, 8])).toEqual(fresh);
  });

  test('refuses a length beyond the end', async () => {
    await sequence.evaluate(filler(3));
    await expect(sequence.truncate(4)).rejects.toThrow('cannot truncate a sequence of 3 tokens to 4');
  });
});

describe('meter', () => {
  const reading = (): [number, number] => [sequence.meter.inputTokens, sequence.meter.outputTokens];

  test('counts a token once: output where its logits were read, else input', async () => {
    await sequence.evaluate(filler(10));
    expect(reading()).toEqual([10, 0]);
    await sequence.score(filler(8), [5, 6, 7]);
    expect(reading()).toEqual([10 + 7, 3]);
    await sequence.nextTokenEntropy(filler(4));
    expect(reading()).toEqual([17 + 3, 3 + 1]);
    await sequence.truncate(10);
    await sequence.clear();
    expect(reading()).toEqual([20, 4]);
  });

  test('less the generating passes it is what the prompt took', async () => {
    const { generatingPasses } = await sequence.generate(filler(600), { maxTokens: 5 });
    expect(reading()).toEqual([599, 1 + generatingPasses]);
    const [input, output] = reading();
    expect(input + output - generatingPasses).toBe(600);
  });
});

describe('a text that does not fit', () => {
  test('is refused before anything is evaluated, with both numbers', async () => {
    await sequence.evaluate(filler(1000));
    const before = sequence.meter;
    await expect(sequence.generate(filler(20), { maxTokens: 5 })).rejects.toMatchObject({
      code: 'context-overflow',
      message: '1020 tokens and 5 to follow do not fit into a window of 1024 tokens',
    });
    await expect(sequence.evaluate(filler(24))).rejects.toMatchObject({ code: 'context-overflow' });
    await expect(sequence.score(filler(20), filler(5))).rejects.toMatchObject({ code: 'context-overflow' });
    expect(sequence.meter).toEqual(before);
    expect(sequence.nextPosition).toBe(1000);
  });

  test('is not what fills the window to the last cell', async () => {
    await sequence.evaluate(filler(WINDOW - 1));
    expect(sequence.cells).toBe(WINDOW - 1);
    await sequence.truncate(1000);
    const { tokens } = await sequence.generate(filler(20), { maxTokens: 4 });
    expect(tokens.length).toBeLessThanOrEqual(4);
  });
});
