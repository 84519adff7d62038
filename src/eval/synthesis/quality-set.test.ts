import { expect, test } from 'vitest';
import { containsTokens } from '../metrics/normalise.ts';
import { SeededRandom } from '../random.ts';
import { drawQualitySet } from './quality-set.ts';
import { isHeldOutValue } from './values.ts';

const draw = (withoutMemories: boolean) =>
  drawQualitySet(new SeededRandom(3), { answerable: 100, memories: 5, phrasing: 'known', withoutMemories });

test('asks for held-out values that stand in the prompt', () => {
  const questions = draw(false);
  const answerable = questions.filter((question) => !question.absent);
  expect(answerable.length).toBeGreaterThanOrEqual(100);
  expect(questions.length).toBeGreaterThan(answerable.length);
  for (const { prompt, gold } of answerable) {
    expect(isHeldOutValue(gold)).toBe(true);
    expect(containsTokens(prompt.join(''), gold, 'en')).toBe(true);
  }
});

test('without memories nothing in the prompt answers, and nothing speaks of memories', () => {
  for (const { prompt, gold, absent } of draw(true)) {
    expect(absent).toBe(false);
    expect(containsTokens(prompt.join(''), gold, 'en')).toBe(false);
    expect(prompt.join('')).toMatch(/^System: .*\n\n(Previous conversation:|User: )/);
  }
});
