import type { VerdictAgreement } from '../../../store/records/results.ts';

/**
 * Agreement of two raters on whether things are so: the share on which they say the same, and Cohen's kappa, which is 0 where
 * they agree as often as their rates alone make likely, and 1 where they always do. Null without a pair.
 * @see Cohen 1960, A Coefficient of Agreement for Nominal Scales
 */
export function verdictAgreement(pairs: readonly (readonly [boolean, boolean])[]): VerdictAgreement | null {
  const n = pairs.length;
  if (n === 0) return null;
  const count = (holds: (pair: readonly [boolean, boolean]) => boolean): number => pairs.filter(holds).length;
  const same = count(([a, b]) => a === b);
  const [yesA, yesB] = [count(([a]) => a), count(([, b]) => b)];
  // Whole numbers, so that certainty is 1 and not nearly 1.
  const expected = yesA * yesB + (n - yesA) * (n - yesB);
  return { n, share: same / n, kappa: expected === n * n ? null : (same * n - expected) / (n * n - expected) };
}
