import type { RunResults } from '../../store/records/results.ts';
import { primaryMetric, type ShownMetric } from '../shown-metric.ts';
import { formatNumber } from '../../render/table.ts';
import { armEncoding, isContender } from './arm-style.ts';
import { estimateFields, type Figure, figureOf, inWords, inlineData, MEANS } from './figure.ts';
import { frontierFinding } from './frontier-finding.ts';
import { PANEL_WIDTH } from './theme.ts';

/** The finding where no arm was held against another. */
function uncompared(values: readonly number[], { title, unit, digits }: ShownMetric): string {
  const [least, most] = [Math.min(...values), Math.max(...values)].map((value) => formatNumber(value, digits));
  return `${title} is ${least!} to ${most!} ${unit} by arm; none is held against another`;
}

/** The scale and axis of times: decades around them, each of two steps. An interval that reaches 0, which has no place, ends at the edge. */
function logarithmic(times: readonly number[]) {
  const decades = times.filter((time) => time > 0).map(Math.log10);
  const first = Math.floor(Math.min(...decades));
  const last = Math.max(first + 1, Math.ceil(Math.max(...decades)));
  const domain = [10 ** first, 10 ** last];
  const steps = Array.from({ length: last - first }, (_, step) => [10 ** (first + step), 3 * 10 ** (first + step)]);
  const title = 'Time to first token, ms, logarithmic (further left is better)';
  return {
    scale: { type: 'log' as const, domain, clamp: true },
    axis: { title, grid: true, values: [...steps.flat(), 10 ** last] },
  };
}

/** Figure F1: the primary metric against time to first token, by arm; undefined if either is unknown. */
export function frontierFigure(results: RunResults): Figure | undefined {
  const primary = primaryMetric(results.run);
  const points = results.arms.flatMap(({ arm, metrics }) => {
    const [quality, time] = [primary.of(metrics), metrics.ttftMs];
    if (!isContender(results, arm) || quality === null || time === null) return [];
    return [{ arm, quality: estimateFields(quality, primary.scale), time: estimateFields(time) }];
  });
  const { name } = primary;
  const [low, high] = [`${name}Low`, `${name}High`];
  const data = points.map(({ arm, quality, time }) => ({
    ...{ arm, [name]: quality.value, [low]: quality.low, [high]: quality.high },
    ...{ ttftMs: time.value, ttftLow: time.low, ttftHigh: time.high },
  }));
  if (data.length < 2) return undefined;
  const { color, shape } = armEncoding(
    results,
    data.map(({ arm }) => arm),
  );
  const x = {
    type: 'quantitative' as const,
    // Arms differ by factors: a linear axis would crowd all but the slowest.
    ...logarithmic(points.flatMap(({ time: { value, low, high } }) => [value, low ?? value, high ?? value])),
  };
  const y = { type: 'quantitative' as const, axis: { title: `${primary.title}, ${primary.unit}`, tickCount: 5 } };
  const words = points.map(
    ({ arm, quality, time }) => `${arm} ${inWords(quality, primary.unit)} at ${inWords(time, 'ms')}`,
  );
  return figureOf(results, {
    id: 'frontier',
    title: `Figure F1. ${
      frontierFinding(results) ??
      uncompared(
        points.map(({ quality }) => quality.value),
        primary,
      )
    }`,
    key: MEANS,
    description: `${primary.title}, and time to the first token over cache hits, with 95 % intervals: ${words.join('; ')}.`,
    data,
    spec: {
      data: inlineData(data),
      width: PANEL_WIDTH,
      height: 230,
      encoding: { color },
      layer: [
        {
          transform: [{ filter: `isValid(datum.${low})` }],
          mark: { type: 'rule', opacity: 0.55 },
          encoding: {
            x: { ...x, field: 'ttftMs' },
            y: { ...y, field: low },
            y2: { field: high },
          },
        },
        {
          transform: [{ filter: 'isValid(datum.ttftLow)' }],
          mark: { type: 'rule', opacity: 0.55 },
          encoding: { x: { ...x, field: 'ttftLow' }, x2: { field: 'ttftHigh' }, y: { ...y, field: name } },
        },
        {
          mark: { type: 'point', size: 80 },
          encoding: { x: { ...x, field: 'ttftMs' }, y: { ...y, field: name }, shape },
        },
        // Arms of one family share a colour: the number of dki-link:4 tells them apart at a glance, above or below its mark.
        ...[-11, 12].map((dy, side) => ({
          transform: [
            { calculate: "split(datum.arm, ':')[1] || ''", as: 'argument' },
            { filter: `indexof(${JSON.stringify(data.map(({ arm }) => arm))}, datum.arm) % 2 == ${side}` },
          ],
          mark: { type: 'text' as const, dy, fontSize: 10 },
          encoding: { x: { ...x, field: 'ttftMs' }, y: { ...y, field: name }, text: { field: 'argument' } },
        })),
      ],
    },
  });
}
