import { SeededRandom } from '../../../base/seeded-random.ts';
import { atFullLayers, type LengthMeasurement } from '../../../store/records/suite-measurements.ts';
import { quantiles } from '../statistics/estimate-mean.ts';

const RESAMPLES = 1000;
const SEED = 7;

/** Time to first token of each repeat, ms. */
export function totals({ repeats }: LengthMeasurement): number[] {
  return repeats.map(({ steps }) => Object.values(steps).reduce((sum, ms) => sum + ms, 0));
}

/**
 * The length in tokens from which every way that stores KV is faster than evaluating the text, with its 95 % interval, in the order of
 * the measurements; 0: at every length, null: at none up to the longest. Between two lengths, medians are taken to change
 * in proportion to a power of the length. Intervals: percentiles over resampled repeats. Few layers count as all of the model.
 */
export function lengthBreakEvens(measuredLayers: readonly LengthMeasurement[]) {
  const measured = atFullLayers(measuredLayers);
  const ways = [...Map.groupBy(measured, wayName).values()].map((rows) => rows.toSorted((a, b) => a.tokens - b.tokens));
  const texts = new Map(measured.filter(({ way }) => way === 'text').map((row) => [row.tokens, totals(row)]));
  const random = new SeededRandom(SEED);
  const again = (times: readonly number[]): number[] => times.map(() => random.pick(times));
  return ways.flatMap((rows) => {
    const [first] = rows;
    if (first!.tier === null) return [];
    const compared = rows.flatMap((row) => {
      const text = texts.get(row.tokens);
      return text === undefined ? [] : [{ tokens: row.tokens, own: totals(row), text }];
    });
    const crossing = (sample: (times: readonly number[]) => readonly number[]): number =>
      crossingAt(
        compared.map(({ tokens, own, text }) => {
          return { tokens, gain: Math.log(quantiles(sample(text)).p50 / quantiles(sample(own)).p50) };
        }),
      );
    const resampled = Array.from({ length: RESAMPLES }, () => crossing(again)).sort((a, b) => a - b);
    const [tokens, low, high] = [
      crossing((times) => times),
      resampled[Math.floor(0.025 * RESAMPLES)]!,
      resampled[Math.ceil(0.975 * RESAMPLES) - 1]!,
    ].map((value) => (value === Infinity ? null : Math.round(value)));
    return { way: first!, tokens: tokens!, low: low!, high: high! };
  });
}

/** `blocks q8_0 disk` */
export function wayName({ way, type, tier }: Pick<LengthMeasurement, 'way' | 'type' | 'tier'>): string {
  return [way, type, tier].filter((part) => part !== null).join(' ');
}

/** The length after the last one at which nothing is gained; 0 if each gains, infinite if the longest does not. */
function crossingAt(points: readonly { readonly tokens: number; readonly gain: number }[]): number {
  const last = points.findLastIndex(({ gain }) => gain <= 0);
  const [before, after] = [points[last], points[last + 1]];
  if (before === undefined) return 0;
  if (after === undefined) return Infinity;
  const share = before.gain / (before.gain - after.gain);
  return before.tokens * (after.tokens / before.tokens) ** share;
}
