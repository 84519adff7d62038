import { betaQuantile, incompleteBeta } from './incomplete-beta.ts';

/** The probability that Student's t with `freedom` degrees exceeds `value`. */
export function studentTail(value: number, freedom: number): number {
  const beyond = incompleteBeta(freedom / (freedom + value ** 2), freedom / 2, 0.5) / 2;
  return value < 0 ? 1 - beyond : beyond;
}

/** Few numbers of users, asked for many times. */
const known = new Map<string, number>();

/** The value that Student's t with `freedom` degrees exceeds with probability `tail`, below one half. */
export function studentQuantile(tail: number, freedom: number): number {
  const key = `${tail} ${freedom}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const share = betaQuantile(2 * tail, freedom / 2, 0.5);
  const quantile = Math.sqrt((freedom * (1 - share)) / share);
  known.set(key, quantile);
  return quantile;
}
