import { clusteredMean } from './clustered-mean.ts';
import { designEffect } from './design-effect.ts';
import { type Interval, TAIL } from './interval.ts';
import type { UnitTotals } from './observations.ts';
import { studentQuantile } from './student-t.ts';

/**
 * 95 % interval of a mean of scores from 0 to 1: Wilson's score interval on the effective number of items, with Student's t on
 * one degree less than there are units. It stays within 0 and 1, and is no point where all are right.
 * @param prior design effect pooled over the arms of a run, for an arm that shows little of its own
 * @see Wilson 1927; Dean and Pagano 2015, Statistics in Medicine 34, on clustered proportions
 */
export function shareInterval(totals: UnitTotals, prior?: number): Interval {
  const { mean, items, units, independent } = clusteredMean(totals);
  if (units < 2) return { low: 0, high: 1 };
  const effect = designEffect([totals], prior);
  // Scores between 0 and 1 vary less than right and wrong do with the same mean: each tells as much as several of these.
  const effective = independent === 0 ? items / effect : (mean * (1 - mean)) / (independent * effect);
  const k = studentQuantile(TAIL, units - 1) ** 2 / effective;
  const half = Math.sqrt(Math.max(0, mean * (1 - mean)) * k + k ** 2 / 4) / (1 + k);
  const centre = (mean + k / 2) / (1 + k);
  return { low: mean === 0 ? 0 : Math.max(0, centre - half), high: mean === 1 ? 1 : Math.min(1, centre + half) };
}
