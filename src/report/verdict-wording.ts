/** Verdicts and intervals in words. Sentences, captions and titles of figures all take them from here, so that none contradicts another. */
import { type Difference, formatDifference, formatInterval, formatRatio } from '../render/format-number.ts';
import type { Comparison } from '../store/records/run-results.ts';
import type { Estimate } from '../store/records/estimate.ts';
import type { MetricDisplay } from './metric-display.ts';

export const NAMED_ARMS = 2;

const containsZero = ({ low, high }: Pick<Difference, 'low' | 'high'>): boolean => !(low > 0 || high < 0);

/** `14.7 [7.0, 23.4]`: the absolute value of a difference with its interval. */
function sizeText(difference: Difference, scale: number, digits: number): string {
  const { delta, low, high } = difference;
  const size = delta < 0 ? { ...difference, delta: -delta, low: -high, high: -low } : difference;
  return formatDifference(size, scale, digits);
}

/** `14.7 [7.0, 23.4] points` */
export function lossText(compared: Comparison, { scale, digits, differenceUnit }: MetricDisplay): string {
  return `${sizeText(compared, scale, digits)} ${differenceUnit}`;
}

/** `−4.9 [−10.6, 0.3] points` */
function differenceText(compared: Difference, { scale, digits, differenceUnit }: MetricDisplay): string {
  return `${formatDifference(compared, scale, digits)} ${differenceUnit}`;
}

const reservations: Readonly<Partial<Record<Comparison['verdict'], string>>> = {
  undecided: ', undecided',
  'too few users': ', too few users for a verdict',
  'not judged': ', not tested',
};

/** The quality of an arm against the baseline, with its verdict: `loses 14.7 [7.0, 23.4] points of contains, undecided (needs 900 items)`. */
export function qualityFinding(compared: Comparison, metric: MetricDisplay): string {
  const { verdict, delta, n, neededItems } = compared;
  if (verdict === 'identical') return `gives the same answers bit by bit on ${n} of ${n} items`;
  if (verdict === 'kept') return `keeps its ${metric.label} within the margin (${differenceText(compared, metric)})`;
  const needs = neededItems === undefined ? '' : ` (needs ${neededItems} items)`;
  const words =
    containsZero(compared) && verdict !== 'lost'
      ? `differs by ${differenceText(compared, metric)}`
      : `${delta < 0 ? 'loses' : 'gains'} ${lossText(compared, metric)}`;
  return `${words} of ${metric.label}${reservations[verdict] ?? ''}${needs}`;
}

const timeReservations: Readonly<Partial<Record<Comparison['verdict'], string>>> = {
  'within A/A noise': 'no more than rag and its twin differ',
};

/** `0.23 [0.22, 0.24] of its time`, with the verdict if a test was planned: `1.13 [0.99, 1.28] of its time (undecided)`. */
export function ratioText(compared: Comparison, ofWhat: string): string {
  const { verdict } = compared;
  return `${formatRatio(compared)} ${ofWhat}${verdict === 'not judged' ? '' : ` (${timeReservations[verdict] ?? verdict})`}`;
}

type Measured = Pick<Estimate, 'mean'> & { readonly low: number | null; readonly high: number | null };

/**
 * A value under two conditions: `falls from 95.8 [83.4, 99.1] to 60.4 [45.0, 74.0] %`, or that the intervals overlap. Conditions have
 * different questions, so there is no paired difference to test.
 */
export function changeFinding(from: Measured, to: Measured, unit: string): string {
  const text = ({ mean, low, high }: Measured): string => formatInterval([mean, low ?? -Infinity, high ?? Infinity], 1);
  const bounded = [from.low, from.high, to.low, to.high].every((bound) => Number.isFinite(bound));
  const falls = bounded && to.high! < from.low!;
  const rises = bounded && to.low! > from.high!;
  const values = `from ${text(from)} to ${text(to)} ${unit}`;
  return falls || rises ? `${falls ? 'falls' : 'rises'} ${values}` : `goes ${values}, undecided`;
}

/** `a`, `a and b`, `a, b and c` */
export function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)!}`;
}

/** Groups differences to the baseline by the sign of their intervals; those that contain 0 by verdict: `kept`, or `none`. */
export function groupDifferences(compared: readonly Comparison[]) {
  const others = compared.filter(({ verdict }) => verdict !== 'identical');
  return {
    identical: compared.filter(({ verdict }) => verdict === 'identical'),
    lower: others.filter(({ high }) => high < 0),
    higher: others.filter(({ low }) => low > 0),
    kept: others.filter((one) => containsZero(one) && one.verdict === 'kept'),
    none: others.filter((one) => containsZero(one) && one.verdict !== 'kept'),
  };
}

export const capitalised = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`;
