/** Parts that figures share: estimates as data, panels, and layers of intervals. */
import type { FigureSpec } from '../../render/figure.ts';
import { formatInterval, formatNumber } from '../../render/format-number.ts';
import type { Estimate } from '../../store/records/estimate.ts';

export const MEANS = 'Points are means, lines their 95 % intervals.';

export type EstimateFields = ReturnType<typeof estimateFields>;

/** An estimate as fields of a data row; `scale` 100 turns shares into percentages. */
export function estimateFields({ mean, low, high }: Pick<Estimate, 'mean' | 'low' | 'high'>, scale = 1) {
  // Stored results have null for infinite bounds.
  const bounded = Number.isFinite(low) && Number.isFinite(high);
  return { value: mean * scale, low: bounded ? low * scale : null, high: bounded ? high * scale : null };
}

/** `97.2 [95.4, 99.0] %`; without the interval if it is unknown. */
export function estimateText({ value, low, high }: EstimateFields, unit: string, digits = 1): string {
  const text = low === null || high === null ? formatNumber(value, digits) : formatInterval([value, low, high], digits);
  return `${text} ${unit}`;
}

export const distinct = <Value>(values: readonly Value[]): Value[] => [...new Set(values)];

/** A figure of panels, one for each value of a field, below one another or two side by side. */
export function facets(field: string, values: readonly string[], columns: 1 | 2, spec: FigureSpec): FigureSpec {
  return {
    facet: {
      field,
      type: 'nominal',
      sort: values,
      title: null,
      header: { labelAnchor: 'start', labelExpr: "split(datum.label, ': ')" },
    },
    columns,
    spacing: columns === 1 ? 14 : { row: 14, column: 16 },
    spec,
  };
}

/** A layer that draws intervals as lines along an axis. */
export function intervalLayer(
  axis: 'x' | 'y',
  channel: FigureSpec,
  {
    encoding = {},
    mark = { opacity: 0.55 },
    bounds: [low, high] = ['low', 'high'],
  }: {
    readonly encoding?: FigureSpec;
    readonly mark?: FigureSpec;
    readonly bounds?: readonly [low: string, high: string];
  } = {},
): FigureSpec {
  return {
    transform: [{ filter: `isValid(datum.${low})` }],
    mark: { type: 'rule', ...mark },
    encoding: { ...encoding, [axis]: { ...channel, field: low }, [`${axis}2`]: { field: high } },
  };
}

export function quantity(title: string | null, scale: FigureSpec = {}, axis: FigureSpec = {}): FigureSpec {
  return { type: 'quantitative', scale, axis: { title, ...axis } };
}

/** A quantitative channel that shows a field of the data. */
export function fieldQuantity(field: string, ...parts: Parameters<typeof quantity>): FigureSpec {
  return { field, ...quantity(...parts) };
}

/** A scale around measured values, not below `floor`. Intervals beyond it are cut: those of few observations would hide the values. */
export function measuredScale(
  rows: readonly Readonly<Record<'value', number> & Partial<Record<'low' | 'high', number | null>>>[],
  floor = -Infinity,
) {
  const values = rows.map(({ value }) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const margin = Math.max((most - least) / 3, Math.abs(most) * 0.1, 1e-6);
  const lowest = Math.min(...rows.map(({ low, value }) => low ?? value));
  const highest = Math.max(...rows.map(({ high, value }) => high ?? value));
  return {
    domain: [Math.max(lowest, least - margin, floor), Math.min(highest, most + margin)],
    clamp: true,
    nice: true,
    zero: false,
  };
}

/** Ticks of a logarithmic axis: 1, 2 and 5 of each decade, the first not above the least value, the last not below the largest. */
export function logarithmicTicks(values: readonly number[]): number[] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const decades = Math.ceil(Math.log10(most / least)) + 1;
  const ticks = Array.from({ length: decades + 1 }, (_, decade) =>
    [1, 2, 5].map((step) => step * 10 ** (Math.floor(Math.log10(least)) + decade)),
  ).flat();
  return ticks.slice(
    ticks.findLastIndex((tick) => tick <= least),
    ticks.findIndex((tick) => tick >= most) + 1,
  );
}

/** A nominal channel whose values have fixed colours, shapes or dashes. */
export function categories(field: string, range: Readonly<Record<string, unknown>>, legend: FigureSpec = {}) {
  const scale = { domain: Object.keys(range), range: Object.values(range) };
  return { field, type: 'nominal', title: null, scale, legend };
}

export function layer(filter: string, mark: string | FigureSpec, encoding: FigureSpec): FigureSpec {
  return { transform: [{ filter }], mark, encoding };
}

export function nameAxis(field: string, names: readonly string[]): FigureSpec {
  return { field, type: 'nominal', sort: names, axis: { title: null, grid: true, labelLimit: 0, labelOverlap: false } };
}
