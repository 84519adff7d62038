import type { MetricDeclaration } from '../../../store/records/metric-declaration.ts';
import { pairedDesignEffect } from '../statistics/design-effect.ts';
import type { Interval } from '../statistics/interval.ts';
import { type PairedObservations, sideOf, unitTotals } from '../statistics/observations.ts';
import { meanDifference, type PairedDifference, shareDifference } from '../statistics/paired-difference.ts';
import { pairedTotals } from '../statistics/paired-totals.ts';

/** Pairs with the sides that they are called by: `a` less `b`, or the other way. */
function swapped(pairs: PairedObservations): PairedObservations {
  return { ...pairs, a: pairs.b, b: pairs.a };
}

/**
 * Design effect of paired shares, pooled over arms that were paired with one baseline; undefined without any.
 * @param arms pairs of each, the baseline second
 */
export function pooledEffect(arms: readonly PairedObservations[]): number | undefined {
  const some = arms.filter(({ a }) => a.length > 0);
  const side = (pairs: PairedObservations, which: 'a' | 'b') => unitTotals(sideOf(pairs, which));
  if (some.length === 0) return undefined;
  return pairedDesignEffect(
    [...some.map((pairs) => side(pairs, 'a')), side(some[0]!, 'b')],
    some.map((pairs) => pairedTotals(pairs).differences),
  );
}

/**
 * The difference by a metric, so that more is better whichever way the metric goes.
 * @param effect design effect of a metric in %
 */
export function gainOf(
  pairs: PairedObservations,
  { unit, direction }: Pick<MetricDeclaration, 'unit' | 'direction'>,
  effect: number,
): PairedDifference {
  const totals = pairedTotals(direction === 'higher' ? pairs : swapped(pairs));
  return unit === '%' ? shareDifference(totals, effect) : meanDifference(totals);
}

/** The difference a − b that a gain is of. */
export function asDifference(
  { delta, interval: { low, high } }: Pick<PairedDifference, 'delta' | 'interval'>,
  { direction }: Pick<MetricDeclaration, 'direction'>,
): Interval & { readonly delta: number } {
  return direction === 'higher' ? { delta, low, high } : { delta: -delta, low: -high, high: -low };
}

/** Mean and 95 % interval of a difference of scores from 0 to 1, of two arms alone. */
export function shareGain(pairs: PairedObservations): Interval & { readonly delta: number } {
  const gain = gainOf(pairs, { unit: '%', direction: 'higher' }, pooledEffect([pairs]) ?? 1);
  return asDifference(gain, { direction: 'higher' });
}
