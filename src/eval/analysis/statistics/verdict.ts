import type { MetricDeclaration } from '../../../records/metric-declaration.ts';
import type { Verdict } from '../../../records/results.ts';

/** A paired difference of quality with its interval. */
export interface QualityDifference {
  readonly delta: number;
  readonly low: number;
  readonly high: number;
  readonly n: number;
  /** Every pair of answers came from the same bits. */
  readonly identical: boolean;
}

/** A difference in which more is better, whichever way the metric goes. */
export function asGain(
  difference: QualityDifference,
  { direction }: Pick<MetricDeclaration, 'direction'>,
): QualityDifference {
  const { delta, low, high } = difference;
  return direction === 'higher' ? difference : { ...difference, delta: -delta, low: -high, high: -low };
}

/** Points of `--margin` where it is not given. */
const PRESET_MARGIN = 2;

/** The margin of a metric in the scale of its values: its own, but for metrics in % where `--margin` says otherwise. */
export function marginOf({ unit, margin }: Pick<MetricDeclaration, 'unit' | 'margin'>, points: number): number {
  if (unit !== '%') return margin;
  return (points === PRESET_MARGIN ? margin : points) / 100;
}

/** The verdict on a difference. */
export interface Judgement {
  readonly verdict: Extract<Verdict, 'identical' | 'kept' | 'lost' | 'undecided'>;
  /** Items that would decide if the difference stayed as it is; absent where decided, or where no number would do. */
  readonly neededItems?: number;
}

/** Items at which a half-width, which shrinks with √n, falls below `distance`. */
function itemsFor(halfWidth: number, distance: number, n: number): number {
  return distance > 0 ? n * (halfWidth / distance) ** 2 : Infinity;
}

/**
 * Judges a difference of quality (0 to 1) by its 95 % interval and a margin, 0.02 for two points: kept if the lower
 * bound is above −margin, else lost if the upper bound is below 0, else undecided.
 */
export function judgeQuality(difference: QualityDifference, margin: number): Judgement {
  const { delta, low, high, n } = difference;
  if (difference.identical) return { verdict: 'identical' };
  if (low > -margin) return { verdict: 'kept' };
  if (high < 0) return { verdict: 'lost' };
  // On the bound itself: one item more may decide, or none.
  if (low === -margin || high === 0) return { verdict: 'undecided' };
  const needed = Math.min(itemsFor(delta - low, delta + margin, n), itemsFor(high - delta, -delta, n));
  return Number.isFinite(needed)
    ? { verdict: 'undecided', neededItems: Math.max(n + 1, Math.ceil(needed)) }
    : { verdict: 'undecided' };
}
