import { expect, test } from 'vitest';
import { compareScores, tokenProbability } from '../../../src/engine/sequence-score.ts';
import type { Opened } from './opened.ts';
import { filler, type Subject } from './subjects.ts';

/** In ln p, with KV in 16-bit floats. */
const ROUNDING = 0.1;

export function evaluationPromises(subject: Subject, opened: Opened): void {
  test('tokens stand in the session in order, one cell each', async () => {
    const { engine, session } = opened;
    const tokens = filler(engine, 523);
    await session.evaluate(tokens);
    expect([session.tokens, session.cells]).toEqual([tokens, 523]);
  });

  test('none at all is nothing to do; fewer than the least are refused', async () => {
    const { engine, session, memories, answer } = opened;
    const { leastTokens } = engine.capabilities;
    await session.evaluate([]);
    expect(await session.meter()).toMatchObject({ evaluated: 0, reused: 0 });
    const few = memories.slice(0, leastTokens - 1);
    await expect(session.score(few, answer)).rejects.toThrow(RangeError);
    await expect(session.generate(few, { maxTokens: 2 })).rejects.toThrow(RangeError);
    if (few.length > 0) await expect(session.evaluate(few)).rejects.toThrow(RangeError);
    expect(session.cells).toBe(0);
    await session.evaluate(memories.slice(0, leastTokens));
    expect(session.cells).toBe(leastTokens);
  });

  test('a score is a distribution and ln p of each token, and stays behind all but the last', async () => {
    const { engine, session, memories, answer } = opened;
    const { next, logProbabilities } = await session.score(memories, answer);
    const { next: promised } = engine.capabilities.logProbabilities!;
    const listed = next.span === 'all' ? [...next.probabilities] : next.tokens.map(({ probability }) => probability);
    const sum = listed.reduce((total, p) => total + p, 0);
    expect(next.span === 'all').toBe(promised === 'all');
    if (promised === 'all') {
      expect(listed).toHaveLength(engine.info.model.vocabularySize!);
      expect(sum).toBeCloseTo(1, 4);
    } else {
      expect(listed).toHaveLength(promised);
      expect(listed).toEqual(listed.toSorted((p, q) => q - p));
      expect(sum).toBeLessThanOrEqual(1.0001);
    }
    expect(logProbabilities).toHaveLength(answer.length);
    const first = tokenProbability(next, answer[0]!);
    if (first === undefined) expect(logProbabilities[0]).toBeLessThanOrEqual(Math.log(listed.at(-1)!));
    else expect(logProbabilities[0]).toBeCloseTo(Math.log(first), 10);
    expect(session.tokens).toEqual([...memories, ...answer.slice(0, -1)]);
  });

  const isWhole = subject.capabilities.logProbabilities?.next === 'all';
  test.runIf(isWhole)(
    'a score gives the distribution in front of every token where it is asked to, and the same bits',
    async () => {
      const { engine, session, memories, answer } = opened;
      const plain = await session.score(memories, answer);
      await session.clear();
      const { distributions = [], ...score } = await session.score(memories, answer, { distributions: true });
      expect(score).toEqual(plain);
      expect(distributions.map(({ length }) => length)).toEqual(answer.map(() => engine.info.model.vocabularySize!));
      for (const [index, token] of answer.entries()) {
        expect(Math.log(distributions[index]![token]!)).toBeCloseTo(score.logProbabilities[index]!, 5);
      }
    },
  );

  test('bits do not depend on a signal, by which a slow model evaluates in smaller pieces', async () => {
    const { engine, session, question, answer } = opened;
    const { signal } = new AbortController();
    const long = filler(engine, 300);
    await session.evaluate(long);
    const whole = await session.score(question, answer);
    await session.clear();
    await session.evaluate(long, { signal });
    expect(await session.score(question, answer, { signal })).toEqual(whole);
  });

  test('a score of a shorter continuation, or of none, has the same distribution', async () => {
    const { session, memories, answer } = opened;
    const one = await session.score(memories, answer.slice(0, 1));
    await session.clear();
    const none = await session.score(memories, []);
    expect(none).toEqual({ next: one.next, logProbabilities: [] });
    expect(session.tokens).toEqual(memories);
    await session.clear();
    const all = await session.score(memories, answer);
    expect(all.logProbabilities[0]).toBeCloseTo(one.logProbabilities[0]!, 3);
  });

  test('bits do not depend on how many tokens were evaluated before, or by rounding where cuts are not exact', async () => {
    const { engine, session, question, answer } = opened;
    // A little more than a batch: the scored positions would fall into two.
    const long = [...filler(engine, 514 - answer.length - question.length), ...question];
    const whole = await session.score(long, answer);
    const differences: number[] = [];
    for (const place of [2, 300, long.length - 2]) {
      await session.clear();
      await session.evaluate(long.slice(0, place));
      const score = await session.score(long.slice(place), answer);
      if (engine.capabilities.exactCuts === 1) expect(score).toEqual(whole);
      else differences.push(compareScores(score, whole).largestDifference);
    }
    // A claim that is not made is not needed: somewhere the bits do differ.
    if (engine.capabilities.exactCuts === null && subject.isExactAnyway !== true) {
      expect(Math.max(...differences)).toBeGreaterThan(0);
    }
    for (const difference of differences) expect(difference).toBeLessThan(ROUNDING);
  });

  test('every token before shows in the distribution, and its place; nothing that was cleared does', async () => {
    const { session, memories } = opened;
    const [a, b, ...rest] = memories.slice(1);
    const scoreOf = async (tokens: readonly number[]): Promise<unknown> => {
      await session.clear();
      expect([session.tokens, session.cells]).toEqual([[], 0]);
      return (await session.score(tokens, [])).next;
    };
    const whole = await scoreOf([a!, b!, ...rest]);
    expect(await scoreOf([b!, a!, ...rest])).not.toEqual(whole);
    expect(await scoreOf([a!, b!, ...rest])).toEqual(whole);
  });
}
