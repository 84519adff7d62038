import { expect, test } from 'vitest';
import { mcnemar } from './p-values.ts';

/** By summing binomial probabilities. */
function summed(wins: number, losses: number) {
  const all = wins + losses;
  const terms = [2 ** -all];
  for (let k = 1; k <= all; k++) terms.push((terms[k - 1]! * (all - k + 1)) / k);
  const fewer = Math.min(wins, losses);
  const below = terms.slice(0, fewer).reduce((sum, term) => sum + term, 0);
  // Twice the terms below, and half of that of the counts seen, on each side; a tie has one such term.
  return {
    exact: Math.min(1, 2 * (below + terms[fewer]!)),
    midP: 2 * below + terms[fewer]! / (wins === losses ? 2 : 1),
  };
}

test.each([
  [1, 7],
  [7, 1],
  [0, 5],
  [3, 3],
  [12, 31],
  [240, 300],
])('%i items won and %i lost: the sum of binomial probabilities', (wins, losses) => {
  const { exact, midP } = mcnemar(wins, losses);
  expect(exact).toBeCloseTo(summed(wins, losses).exact, 12);
  expect(midP).toBeCloseTo(summed(wins, losses).midP, 12);
});

test('values by hand: 1 and 7 of 8; a tie of 2; no item that differs', () => {
  // (1 + 8) ÷ 256 on each side; half of the 8 ÷ 256 less.
  expect(mcnemar(1, 7).exact).toBeCloseTo(18 / 256, 12);
  expect(mcnemar(1, 7).midP).toBeCloseTo(10 / 256, 12);
  expect(mcnemar(1, 1).midP).toBeCloseTo(0.75, 12);
  expect(mcnemar(0, 0)).toEqual({ exact: 1, midP: 1 });
});
