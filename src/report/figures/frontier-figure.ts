import { formatNumber } from '../../render/table.ts';
import { type Figure, PANEL_WIDTH } from '../../render/figure.ts';
import type { RunResults } from '../../store/records/results.ts';
import { type ShownMetric, primaryMetric } from '../shown-metric.ts';
import { baselineArm, findComparison, joinedArm, primaryArm } from '../compared-arms.ts';
import { armEncoding, isContender } from './arm-marks.ts';
import { estimateFields, intervalLayer, inWords, MEANS, quantity } from './figure-parts.ts';
import { NAMED_ARMS, qualityFinding, timeFinding } from './finding.ts';

/**
 * The finding of quality against time in a sentence: the primary arm, and the first planned one that injects, or else those
 * that were planned, or any others, beside the baseline. Undefined where nothing was compared.
 */
function frontierFinding(results: RunResults): string | undefined {
  const { arms, run } = results;
  const baseline = baselineArm(arms)?.arm;
  const metric = primaryMetric(run);
  const usual = [primaryArm(arms), joinedArm(arms)].filter((arm) => arm !== undefined);
  const others = arms.filter(({ traits }) => traits.control === null && traits.comparison !== 'baseline');
  const planned = others.filter(({ traits }) => traits.comparison === 'planned');
  const named = [usual, planned, others].find(({ length }) => length > 0) ?? [];
  const clauses = named.slice(0, NAMED_ARMS).flatMap((arm) => {
    const [quality, time] = [metric.name, 'ttftLogRatio'].map((name) =>
      findComparison(results, arm.arm, baseline, name),
    );
    if (quality === undefined) return [];
    return [`${arm.arm} ${qualityFinding(quality, metric)}${time === undefined ? '' : ` ${timeFinding(time)}`}`];
  });
  return clauses.length === 0 ? undefined : `Against ${baseline!}, ${clauses.join('; ')}`;
}

/** The finding where no arms were compared. */
function rangeOfQuality(values: readonly number[], { title, unit, digits }: ShownMetric): string {
  const [least, most] = [Math.min(...values), Math.max(...values)].map((value) => formatNumber(value, digits));
  return `${title} is ${least!} to ${most!} ${unit} by arm; no arms were compared`;
}

/** The scale and axis of times: decades around them, each of two steps. An interval that reaches 0, which has no place, ends at the edge. */
function logarithmic(times: readonly number[]) {
  const decades = times.filter((time) => time > 0).map(Math.log10);
  const first = Math.floor(Math.min(...decades));
  const last = Math.max(first + 1, Math.ceil(Math.max(...decades)));
  const domain = [10 ** first, 10 ** last];
  const steps = Array.from({ length: last - first }, (_, step) => [10 ** (first + step), 3 * 10 ** (first + step)]);
  const title = 'Time to first token, ms, logarithmic (further left is better)';
  return quantity(title, { type: 'log', domain, clamp: true }, { grid: true, values: [...steps.flat(), 10 ** last] });
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
    arm,
    [name]: quality.value,
    [low]: quality.low,
    [high]: quality.high,
    ttftMs: time.value,
    ttftLow: time.low,
    ttftHigh: time.high,
  }));
  if (data.length < 2) return undefined;
  const values = points.map((point) => point.quality.value);
  const arms = data.map(({ arm }) => arm);
  const { color, shape } = armEncoding(results, arms);
  // Arms differ by factors: a linear axis would crowd all but the slowest.
  const x = logarithmic(points.flatMap(({ time: { value, low, high } }) => [value, low ?? value, high ?? value]));
  const y = quantity(`${primary.title}, ${primary.unit}`, {}, { tickCount: 5 });
  const time = { ...x, field: 'ttftMs' };
  const quality = { ...y, field: name };
  const words = points.map(
    ({ arm, quality, time }) => `${arm} ${inWords(quality, primary.unit)} at ${inWords(time, 'ms')}`,
  );
  return {
    id: 'frontier',
    title: `Figure F1. ${frontierFinding(results) ?? rangeOfQuality(values, primary)}`,
    key: MEANS,
    description: `${primary.title}, and time to the first token over cache hits, with 95 % intervals: ${words.join('; ')}.`,
    data,
    spec: {
      width: PANEL_WIDTH,
      height: 230,
      encoding: { color },
      layer: [
        intervalLayer('y', y, { encoding: { x: time }, bounds: [low, high] }),
        intervalLayer('x', x, { encoding: { y: quality }, bounds: ['ttftLow', 'ttftHigh'] }),
        { mark: { type: 'point', size: 80 }, encoding: { x: time, y: quality, shape } },
        // Arms of one family share a colour: the number of dki-link:4 tells them apart at a glance, above or below its mark.
        ...[-11, 12].map((dy, side) => ({
          transform: [
            { calculate: "split(datum.arm, ':')[1] || ''", as: 'argument' },
            { filter: `indexof(${JSON.stringify(arms)}, datum.arm) % 2 == ${side}` },
          ],
          mark: { type: 'text', dy, fontSize: 10 },
          encoding: { x: time, y: quality, text: { field: 'argument' } },
        })),
      ],
    },
  };
}
