import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  countScore,
  documentRule,
  fuseRanks,
  normalisedFusion,
  recencyDecay,
  salienceScores as scored,
  type SalienceSignals,
} from './salience-ranking.ts';

const DAY_MS = 86_400_000;
const salienceScores = (candidates: readonly SalienceSignals[], nowMs: number) =>
  scored(candidates, nowMs, documentRule);
const now = Date.UTC(2026, 5, 1);

function signals(given: Partial<SalienceSignals>): SalienceSignals {
  return { semanticSimilarity: 0, reinforcement: 0, updatedAtMs: now, accessCount: 0, ...given };
}

describe('recencyDecay', () => {
  // The table of the decay in the source document.
  test.each([
    [0, '1.000'],
    [7, '0.851'],
    [15, '0.707'],
    [30, '0.500'],
    [60, '0.250'],
    [90, '0.125'],
  ])('after %i days %s', (days, expected) => {
    expect(recencyDecay(days, 30).toFixed(3)).toBe(expected);
  });

  test('what bears a date of tomorrow is no more recent than now', () => {
    expect(recencyDecay(-3, 30)).toBe(1);
  });
});

describe('salienceScores', () => {
  test('the weights add up to 1', () => {
    expect(Object.values(documentRule.weights).reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12);
  });

  test('one memory by hand', () => {
    const [score] = salienceScores(
      [
        signals({ semanticSimilarity: 0.8, reinforcement: 3, updatedAtMs: now - 30 * DAY_MS, accessCount: 1 }),
        signals({ reinforcement: 7, accessCount: 4 }),
      ],
      now,
    );
    const expected = 0.5 * 0.8 + 0.2 * (Math.log(4) / Math.log(9)) + 0.2 * 0.5 + 0.1 * (Math.log(2) / Math.log(6));
    expect(score).toBeCloseTo(expected, 12);
  });

  test('by other weights and another half-life', () => {
    const weights = { semantic: 0, reinforcement: 0, recency: 1, access: 0 };
    const candidates = [signals({ semanticSimilarity: 1, updatedAtMs: now - 14 * DAY_MS, reinforcement: 5 })];
    const [score] = scored(candidates, now, { weights, halfLifeDays: 7 });
    expect(score).toBeCloseTo(0.25, 12);
  });

  test('the most reinforced of a set is near 1 and never there', () => {
    expect(countScore(0, 0)).toBe(0);
    expect(countScore(1, 1)).toBeCloseTo(Math.log(2) / Math.log(3), 12);
    expect(countScore(10_000, 10_000)).toBeLessThan(1);
  });

  test('all scores lie between 0 and 1', () => {
    const one = fc.record({
      semanticSimilarity: fc.double({ min: 0, max: 1, noNaN: true }),
      reinforcement: fc.nat(),
      updatedAtMs: fc.integer({ min: 0, max: 2 * now }),
      accessCount: fc.nat(),
    });
    fc.assert(
      fc.property(fc.array(one), (set) => {
        for (const score of salienceScores(set, now)) {
          expect(score).toBeGreaterThanOrEqual(0);
          expect(score).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  // First in both searches and two months old, against 20th in one of them and new.
  test('the fused rank over its maximum decides where the raw one would let recency decide', () => {
    const others = Array.from({ length: 18 }, (_, index) => `other ${index}`);
    const fused = fuseRanks([['relevant', ...others, 'new'], ['relevant']]);
    const ranking = (semanticSimilarity: (score: number) => number): string[] => {
      const pair = fused.filter(({ id }) => id === 'relevant' || id === 'new');
      const scores = salienceScores(
        pair.map(({ id, score }) =>
          signals({
            semanticSimilarity: semanticSimilarity(score),
            updatedAtMs: id === 'new' ? now : now - 60 * DAY_MS,
          }),
        ),
        now,
      );
      return pair
        .map(({ id }, index) => ({ id, score: scores[index]! }))
        .sort((a, b) => b.score - a.score)
        .map(({ id }) => id);
    };
    expect(ranking((score) => score)).toEqual(['new', 'relevant']);
    expect(ranking((score) => normalisedFusion(score, 2))).toEqual(['relevant', 'new']);
  });
});
