import type { RunResults } from '../../store/records/results.ts';
import { primaryMetric } from '../shown-metric.ts';

/** Names of the arms that can be deployed and that none of these beats in both quality and time to first token. */
export function frontierOf({ run, arms, methods = [] }: RunResults): ReadonlySet<string> {
  const primary = primaryMetric(run);
  const points = methods.flatMap(({ arm, timesQueryOnly }) => {
    const { traits, metrics } = arms.find((one) => one.arm === arm)!;
    const quality = primary.of(metrics);
    if (traits.deployable === false || quality === null || timesQueryOnly === null) return [];
    const sign = primary.declared.direction === 'higher' ? 1 : -1;
    return [{ arm, quality: sign * quality.mean, time: timesQueryOnly.mean }];
  });
  const isBeaten = (point: (typeof points)[number]): boolean =>
    points.some(
      ({ quality, time }) =>
        quality >= point.quality && time <= point.time && (quality > point.quality || time < point.time),
    );
  return new Set(points.filter((point) => !isBeaten(point)).map(({ arm }) => arm));
}
