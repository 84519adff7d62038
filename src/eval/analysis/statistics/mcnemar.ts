import type { McNemar } from '../../../store/records/run-results.ts';
import { incompleteBeta } from './distributions.ts';

/**
 * Two-sided p of "wins and losses are equally likely" for a metric of 0 and 1, from the items on which two arms differ, taken as
 * independent: by the binomial distribution (exact), and less half of the probability of the observed counts (mid-p), which is less
 * conservative.
 * @see McNemar 1947; Fagerland, Lydersen and Laake 2013, "The McNemar test for binary matched-pairs data: mid-p and asymptotic are better
 * than exact conditional"
 */
export function mcnemar(wins: number, losses: number): McNemar {
  const [fewer, all] = [Math.min(wins, losses), wins + losses];
  /** P(X ≤ k) of a binomial distribution with probability ½. */
  const atMost = (k: number): number => (k < 0 ? 0 : k >= all ? 1 : incompleteBeta(0.5, all - k, k + 1));
  // A tie is one outcome; other counts are as unlikely as the same counts exchanged.
  const observed = (atMost(fewer) - atMost(fewer - 1)) * (wins === losses ? 1 : 2);
  const exact = Math.min(1, 2 * atMost(fewer));
  return { exact, midP: all === 0 ? 1 : exact - observed / 2 };
}
