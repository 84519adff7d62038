import { quantileSorted } from 'simple-statistics';
import type { Quantiles } from '../../../store/records/estimate.ts';

/** p95 of fewer values than this rests on fewer than five of them. */
const MIN_FOR_P95 = 100;

/**
 * p50 and p95 by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996, R's default).
 * @throws RangeError without values
 */
export function quantiles(values: readonly number[]): Quantiles {
  if (values.length === 0) throw new RangeError('no quantile of no values');
  const sorted = values.toSorted((a, b) => a - b);
  const p50 = quantileSorted(sorted, 0.5);
  return values.length < MIN_FOR_P95 ? { p50 } : { p50, p95: quantileSorted(sorted, 0.95) };
}
