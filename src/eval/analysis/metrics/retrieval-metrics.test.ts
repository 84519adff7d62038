import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ndcgAtK, recallAtK, reciprocalRank } from './retrieval-metrics.ts';

describe('worked examples', () => {
  const ranked = ['a', 'x', 'b', 'y', 'c'];

  test('recall@k is the share of the evidence among the first k', () => {
    expect([1, 2, 3, 5].map((k) => recallAtK(ranked, ['a', 'b', 'q'], k))).toEqual([1 / 3, 1 / 3, 2 / 3, 2 / 3]);
  });

  test('the reciprocal rank is that of the first piece of evidence', () => {
    const ranks = [reciprocalRank(ranked, ['c', 'b']), reciprocalRank(ranked, ['q']), reciprocalRank([], ['q'])];
    expect(ranks).toEqual([1 / 3, 0, 0]);
  });

  test('nDCG by hand: evidence at places 1, 3 and missing', () => {
    const ideal = 1 + 1 / Math.log2(3) + 1 / Math.log2(4);
    expect(ndcgAtK(ranked, ['a', 'b', 'q'], 10)).toBeCloseTo((1 + 1 / Math.log2(4)) / ideal, 12);
    // Of three pieces only two fit among the first two.
    expect(ndcgAtK(['a', 'b'], ['a', 'b', 'c'], 2)).toBe(1);
    expect(ndcgAtK(['x', 'a'], ['a'], 10)).toBeCloseTo(1 / Math.log2(3), 12);
  });

  test('a memory that stands twice counts once', () => {
    expect(recallAtK(['a', 'a', 'b'], ['a', 'b'], 2)).toBe(1);
    expect(ndcgAtK(['a', 'a', 'a'], ['a', 'a', 'b'], 10)).toBeCloseTo(1 / (1 + 1 / Math.log2(3)), 12);
  });

  test('a question without evidence has no score', () => {
    for (const measure of [reciprocalRank, recallAtK, ndcgAtK]) {
      expect(() => measure(['a'], [], 5)).toThrow(RangeError);
    }
  });
});

test('all lie between 0 and 1, are 1 for the evidence first, and never fall when a hit moves up', () => {
  const id = fc.constantFrom(...'abcdefgh');
  const set = fc.uniqueArray(id, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.uniqueArray(id), set, fc.integer({ min: 1, max: 10 }), (ranked, evidence, k) => {
      for (const measure of [reciprocalRank, recallAtK, ndcgAtK]) {
        expect(measure(ranked, evidence, k)).toBeGreaterThanOrEqual(0);
        expect(measure(ranked, evidence, k)).toBeLessThanOrEqual(1 + 1e-12);
      }
      expect(ndcgAtK([...evidence, ...ranked], evidence, k)).toBeCloseTo(1, 12);
      const [hit] = ranked.filter((each) => evidence.includes(each));
      if (hit === undefined) return;
      const better = [hit, ...ranked.filter((each) => each !== hit)];
      expect(ndcgAtK(better, evidence, k)).toBeGreaterThanOrEqual(ndcgAtK(ranked, evidence, k) - 1e-12);
      expect(reciprocalRank(better, evidence)).toBe(1);
    }),
  );
});
