import { describe, expect, test } from 'vitest';
import { containsTokens } from '../../../src/data/normalise-text.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { isHeldOutValue } from '../../../src/data/generators/draw-value.ts';
import { drawQualitySet, type QualityQuestion } from './quality-set.ts';

describe.each(['en', 'zh'] as const)('questions in %s', (language) => {
  const draw = (withoutMemories: boolean): QualityQuestion[] => {
    const options = { language, answerable: 200, memories: 8, phrasing: 'known', withoutMemories } as const;
    return drawQualitySet(new SeededRandom(3), options);
  };

  test('are about held-out values that stand in the prompt', () => {
    const questions = draw(false);
    const answerable = questions.filter((question) => !question.absent);
    expect(answerable.length).toBeGreaterThanOrEqual(200);
    expect(questions.length).toBeGreaterThan(answerable.length);
    for (const { prompt, gold, kind } of answerable.filter((question) => question.kind !== 'list')) {
      // A question about two dates asks for a thing, whose name may be a real word.
      if (kind !== 'order') expect([gold, isHeldOutValue(gold)]).toEqual([gold, true]);
      expect(containsTokens(prompt.join(''), gold, language)).toBe(true);
    }
  });

  test('are of every kind of task', () => {
    const kinds = new Set(draw(false).map(({ kind }) => kind));
    const facts = ['plain', 'update', 'several', 'other', 'history', 'override', 'absent'];
    const tasks = ['join', 'list', 'order', 'choice', 'shared', 'reference'];
    expect([...kinds]).toEqual(expect.arrayContaining([...facts, ...tasks]));
  });

  test('without memories nothing in the prompt answers, and nothing mentions memories', () => {
    for (const { prompt, gold, absent } of draw(true)) {
      expect(absent).toBe(false);
      expect(containsTokens(prompt.join(''), gold, language)).toBe(false);
      expect(prompt.join('')).toMatch(/^System: .*\n\n(Previous conversation:|User: )/);
    }
  });
});
