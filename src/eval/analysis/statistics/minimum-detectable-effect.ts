import { designEffect } from './design-effect.ts';
import { differences, meanOf, type PairedObservation } from './observations.ts';

/** Normal quantiles of 0.975 and 0.8: a two-sided test at 5 % that finds a true difference four times in five. */
const Z_LEVEL = 1.959963984540054;
const Z_POWER = 0.8416212335729143;

/**
 * The smallest true mean difference between two arms that data of this spread would show at p < 0.05 with 80 % power:
 * (z₀.₉₇₅ + z₀.₈) · √(s² · design effect ÷ n), with s² the variance of the paired differences.
 * Infinite for fewer than two pairs.
 * @see Bloom 1995, "Minimum detectable effects"
 */
export function minimumDetectableEffect(pairs: readonly PairedObservation[]): number {
  if (pairs.length < 2) return Infinity;
  const deltas = differences(pairs);
  const mean = meanOf(deltas);
  const variance = deltas.reduce((total, { value }) => total + (value - mean) ** 2, 0) / (deltas.length - 1);
  return (Z_LEVEL + Z_POWER) * Math.sqrt((variance * designEffect(deltas)) / deltas.length);
}
