import { describe, expect, test } from 'vitest';
import { fuseRanks, normalisedFusion } from './salience-ranking.ts';

describe('fuseRanks', () => {
  test('the worked example of the source document: B > A > D > C, with its four scores', () => {
    const fused = fuseRanks([
      ['A', 'B', 'C'],
      ['B', 'D', 'A'],
    ]);
    expect(fused.map(({ id }) => id).join(' > ')).toBe('B > A > D > C');
    expect(fused.map(({ score }) => score.toFixed(4))).toEqual(['0.0325', '0.0323', '0.0161', '0.0159']);
  });

  test('of one score the one that was met first', () => {
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
