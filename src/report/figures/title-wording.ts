/** Wording of figure titles, which claim no more than the intervals show. */
import { type Difference } from '../../render/table.ts';
import { formatInterval, formatNumber, formatRatio } from '../../render/format-number.ts';
import type { Comparison } from '../../store/records/run-results.ts';
import type { Estimate } from '../../store/records/estimate.ts';
import type { MetricDisplay } from '../metric-display.ts';

export const NAMED_ARMS = 2;

export function containsZero({ low, high }: Pick<Difference, 'low' | 'high'>): boolean {
  return !(low > 0 || high < 0);
}

/** `14.7 [7.0, 23.4]`: the absolute value of a difference with its interval. */
export function sizeText({ delta, low, high }: Difference, scale: number, digits: number): string {
  const parts = [delta, low, high].map((part) => part * scale) as [number, number, number];
  const [value, from, to] = parts;
  return formatInterval(value < 0 ? [-value, -to, -from] : parts, digits);
}

/** `14.7 [7.0, 23.4] points` */
export function lossText(compared: Comparison, { scale, digits, differenceUnit }: MetricDisplay): string {
  return `${sizeText(compared, scale, digits)} ${differenceUnit}`;
}

/** Quality of an arm against the baseline: `loses 14.7 [7.0, 23.4] points of contains`. */
export function qualityFinding(compared: Comparison, metric: MetricDisplay): string {
  const { verdict, delta } = compared;
  if (verdict === 'identical') return 'gives its answers bit by bit';
  if (verdict === 'kept') return `keeps its ${metric.label} within the margin`;
  if (containsZero(compared)) return `shows no difference in ${metric.label}`;
  const words = `${delta < 0 ? 'loses' : 'gains'} ${lossText(compared, metric)} of ${metric.label}`;
  return verdict === 'undecided' ? `${words}, undecided after correction for the number of arms` : words;
}

/** `in 0.23 [0.22, 0.24] of its time`, or that no difference is shown. */
export function timeFinding(compared: Comparison): string {
  return containsZero(compared) ? 'with no difference in time shown' : `in ${formatRatio(compared)} of its time`;
}

type Measured = Pick<Estimate, 'mean'> & { readonly low: number | null; readonly high: number | null };

/**
 * A value under two conditions: `falls from 95.8 [83.4, 99.1] to 60.4 [45.0, 74.0] %`, or `shows no change` if the intervals
 * overlap. Conditions have different questions, so there is no paired difference to test.
 */
export function changeFinding(from: Measured, to: Measured, unit: string): string {
  const text = ({ mean, low, high }: Measured): string => formatInterval([mean, low!, high!], 1);
  const bounded = [from.low, from.high, to.low, to.high].every((bound) => Number.isFinite(bound));
  const falls = bounded && to.high! < from.low!;
  if (falls || (bounded && to.low! > from.high!)) {
    return `${falls ? 'falls' : 'rises'} from ${text(from)} to ${text(to)} ${unit}`;
  }
  return `shows no change (${formatNumber(from.mean, 1)} and ${formatNumber(to.mean, 1)} ${unit})`;
}

/** `a`, `a and b`, `a, b and c` */
export function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)!}`;
}

/** Groups differences to the baseline by the sign of their intervals; `none`: the interval contains 0. */
export function groupDifferences(compared: readonly Comparison[]) {
  const others = compared.filter(({ verdict }) => verdict !== 'identical');
  return {
    identical: compared.filter(({ verdict }) => verdict === 'identical'),
    lower: others.filter(({ high }) => high < 0),
    higher: others.filter(({ low }) => low > 0),
    none: others.filter(containsZero),
  };
}

export const capitalised = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`;
