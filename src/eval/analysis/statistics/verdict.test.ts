import { expect, test } from 'vitest';
import { judgeQuality } from './verdict.ts';

const difference = { delta: -0.01, low: -0.015, high: -0.005, n: 400, identical: false };

test('kept above the margin, even where a small loss is certain', () => {
  expect(judgeQuality(difference, 0.02)).toEqual({ verdict: 'kept' });
  expect(judgeQuality({ ...difference, low: -0.02 }, 0.02).verdict).toBe('lost');
});

test('undecided says how many items would decide at the same difference', () => {
  // To be kept, the half-width 0.04 must shrink to −0.01 + 0.02 = 0.01: sixteen times the items.
  const kept = { ...difference, delta: -0.01, low: -0.05, high: 0.03 };
  expect(judgeQuality(kept, 0.02)).toEqual({ verdict: 'undecided', neededItems: 6400 });
  // To be lost, the half-width 0.06 must shrink to 0.05.
  const lost = { ...difference, delta: -0.05, low: -0.11, high: 0.01 };
  expect(judgeQuality(lost, 0.02)).toEqual({ verdict: 'undecided', neededItems: 576 });
});

test('no number is named where none would decide', () => {
  expect(judgeQuality({ ...difference, delta: 0, low: -0.1, high: 0.1 }, 0)).toEqual({ verdict: 'undecided' });
  expect(judgeQuality({ ...difference, low: -Infinity, high: Infinity }, 0.02)).toEqual({ verdict: 'undecided' });
});

test('no number is named where a bound lies on the border', () => {
  expect(judgeQuality({ ...difference, delta: -0.05, low: -0.1, high: 0 }, 0.02)).toEqual({ verdict: 'undecided' });
});

test('identical bits need no interval', () => {
  expect(judgeQuality({ ...difference, identical: true }, 0.02)).toEqual({ verdict: 'identical' });
});
