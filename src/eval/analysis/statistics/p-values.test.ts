import { describe, expect, test } from 'vitest';
import { SeededRandom } from '../../../base/seeded-random.ts';
import { pairedTotals } from './paired-difference.ts';
import { holm, mcnemar, signFlipP } from './p-values.ts';

const paired = (sums: readonly number[]) => ({ sums });

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

describe('the sign-flip test', () => {
  test('counts all flips for few users', () => {
    expect(signFlipP(paired([1, 2, 3, 1, 2]), 1)).toBe(2 / 32);
    // |±1 ±2 ±3| ≥ 4: the four of 6, 4, −4, −6.
    expect(signFlipP(paired([-1, 2, 3]), 1)).toBe(4 / 8);
  });

  test('flips the signs of whole users, not of single items; p is 1 if all differences are 0', () => {
    const items = [0, 1, 2, 3].flatMap((user) =>
      Array.from({ length: 25 }, () => ({ userId: `u${user}`, a: 1, b: 0 })),
    );
    expect(signFlipP(pairedTotals(items).differences, 1)).toBe(2 / 16);
    expect(signFlipP(paired([0, 0, 0]), 1)).toBe(1);
  });

  test('flips each unit by its own random bit, as a loop over single units does', () => {
    const sums = Array.from({ length: 41 }, (_, unit) => Math.sin(7 * unit) + 0.2);
    const total = Math.abs(sums.reduce((sum, one) => sum + one));
    const random = new SeededRandom(5);
    let extreme = 0;
    for (let flip = 0; flip < 2000; flip++) {
      const words = [random.bits(), random.bits()];
      const isFlipped = (unit: number): boolean => ((words[unit >> 5]! >>> (unit & 31)) & 1) === 1;
      const flipped = sums.reduce((sum, one, unit) => sum + (isFlipped(unit) ? -one : one), 0);
      if (Math.abs(flipped) >= total) extreme++;
    }
    expect(extreme).toBeGreaterThan(20);
    expect(signFlipP(paired(sums), 5, 2000)).toBe((extreme + 1) / 2001);
  });

  test('is never 0', () => {
    expect(signFlipP(paired(Array.from({ length: 60 }, () => 1)), 1)).toBe(1 / 10_001);
  });
});

describe("McNemar's test", () => {
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
});

test("the adjustment by Holm agrees with R's p.adjust(c(0.01, 0.04, 0.03, 0.005), 'holm'), and ends at 1", () => {
  const expected = [0.03, 0.06, 0.06, 0.02];
  holm([0.01, 0.04, 0.03, 0.005]).forEach((p, index) => expect(p).toBeCloseTo(expected[index]!, 12));
  expect(holm([0.6, 0.9])).toEqual([1, 1]);
  expect(holm([])).toEqual([]);
});
