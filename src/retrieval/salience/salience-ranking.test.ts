import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  countScore,
  documentRule,
  fuseRanks,
  normalisedFusion,
  recencyDecay,
  salienceScores,
  type SalienceSignals,
} from './salience-ranking.ts';

const DAY_MS = 86_400_000;
const now = Date.UTC(2026, 5, 1);

function signals(given: Partial<SalienceSignals>): SalienceSignals {
  return { semanticSimilarity: 0, reinforcement: 0, updatedAtMs: now, accessCount: 0, ...given };
}

describe('recencyDecay', () => {
  // The table of the decay in the design document; a date in the future is as recent as now.
  test.each([
    [-3, '1.000'],
    [0, '1.000'],
    [7, '0.851'],
    [15, '0.707'],
    [30, '0.500'],
    [60, '0.250'],
    [90, '0.125'],
  ])('after %i days %s', (days, expected) => {
    expect(recencyDecay(days, 30).toFixed(3)).toBe(expected);
  });
});

describe('salienceScores', () => {
  test('is the weighted sum of the signals, with weights that sum to 1', () => {
    const one = signals({ semanticSimilarity: 0.8, reinforcement: 3, updatedAtMs: now - 30 * DAY_MS, accessCount: 1 });
    const [score] = salienceScores([one, signals({ reinforcement: 7, accessCount: 4 })], now, documentRule);
    const expected = 0.5 * 0.8 + 0.2 * (Math.log(4) / Math.log(9)) + 0.2 * 0.5 + 0.1 * (Math.log(2) / Math.log(6));
    expect(score).toBeCloseTo(expected, 12);
    expect(Object.values(documentRule.weights).reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12);
    const weights = { semantic: 0, reinforcement: 0, recency: 1, access: 0 };
    const old = signals({ semanticSimilarity: 1, updatedAtMs: now - 14 * DAY_MS, reinforcement: 5 });
    expect(salienceScores([old], now, { weights, halfLifeDays: 7 })[0]).toBeCloseTo(0.25, 12);
  });

  test('the largest count scores just below 1', () => {
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
    const scores = fc.array(one).map((set) => salienceScores(set, now, documentRule));
    fc.assert(fc.property(scores, (all) => all.every((score) => score >= 0 && score <= 1)));
  });

  // First in both searches and two months old, against 20th in one of them and new.
  test('the normalised fused rank decides where the raw one would let recency decide', () => {
    const others = Array.from({ length: 18 }, (_, index) => `other ${index}`);
    const fused = fuseRanks([['relevant', ...others, 'new'], ['relevant']]);
    const advantage = (normalise: (score: number) => number): number => {
      const similarity = (wanted: string): number => normalise(fused.find(({ id }) => id === wanted)!.score);
      const old = signals({ semanticSimilarity: similarity('relevant'), updatedAtMs: now - 60 * DAY_MS });
      const pair = [old, signals({ semanticSimilarity: similarity('new') })];
      const [relevant, recent] = salienceScores(pair, now, documentRule);
      return relevant! - recent!;
    };
    expect(advantage((score) => score)).toBeLessThan(0);
    expect(advantage((score) => normalisedFusion(score, 2))).toBeGreaterThan(0);
  });
});

describe('fuseRanks', () => {
  test('the worked example of the design document: B > A > D > C, with its four scores', () => {
    const lists = ['ABC', 'BDA'].map((list) => [...list]);
    const scores = fuseRanks(lists).map(({ id, score }) => `${id} ${score.toFixed(4)}`);
    expect(scores).toEqual(['B 0.0325', 'A 0.0323', 'D 0.0161', 'C 0.0159']);
  });

  test('of equal scores, the first occurrence comes first', () => {
    expect(fuseRanks([['x'], ['y'], ['z']]).map(({ id }) => id)).toEqual(['x', 'y', 'z']);
    expect(fuseRanks([])).toEqual([]);
  });

  test('a first place in every list is 1, in one of two a half', () => {
    const [both, one] = fuseRanks([['a'], ['a', 'b']]);
    expect(normalisedFusion(both!.score, 2)).toBeCloseTo(1, 12);
    expect(normalisedFusion(fuseRanks([['b']])[0]!.score, 2)).toBeCloseTo(0.5, 12);
    expect(normalisedFusion(one!.score, 2)).toBeCloseTo(61 / 62 / 2, 12);
  });
});
