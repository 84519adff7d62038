import { builtInMetrics, untestedMetrics } from '../eval/analysis/metrics/built-in-metrics.ts';
import { metricsOfRun, successMetric } from '../eval/analysis/metrics/metric-selection.ts';
import type { MetricDeclaration } from '../store/records/run-description.ts';
import type { Estimate } from '../store/records/estimate.ts';
import type { RunResults } from '../store/records/run-results.ts';
import type { Difference } from '../render/format-number.ts';
import { type Cell, estimateCell, intervalColumn, type ItemColumn, textCell } from '../render/table.ts';

type Run = RunResults['run'];
type Estimates = Readonly<Record<string, Estimate | null | undefined>>;

export const qualityCell = ({ unknownQuality }: Run, cell: Cell): Cell =>
  unknownQuality === null ? cell : textCell(unknownQuality);

/** A metric with the formats of tables and figures: unit, scale and digits; shares become percentages. */
export type MetricDisplay = ReturnType<typeof metricDisplay>;

function metricDisplay(declared: MetricDeclaration, run: Run) {
  const { name, label, unit } = declared;
  const isShare = unit === '%';
  const [scale, digits] = isShare ? ([100, 1] as const) : ([1, 3] as const);
  // Differences of percentages are in points.
  const [differenceUnit, differenceHeading] = isShare ? (['points', 'pp'] as const) : ([unit, unit] as const);
  const heading = `${label} (${unit})`;
  const of = (metrics: Estimates | undefined): Estimate | null => metrics?.[name] ?? null;
  const cell = (metrics: Estimates | undefined): Cell => qualityCell(run, estimateCell(of(metrics), scale, digits));
  const difference = (found: Difference | null | undefined): Cell => estimateCell(found, scale, digits);
  return {
    declared,
    name,
    label,
    unit,
    differenceUnit,
    scale,
    digits,
    heading,
    title: `${label[0]!.toUpperCase()}${label.slice(1)}`,
    differenceHeading,
    /** Null if no item has a value. */
    of,
    cell,
    difference,
    column: <Item extends { readonly metrics: Estimates }>(): ItemColumn<Item> =>
      intervalColumn(name, heading, ({ metrics }) => cell(metrics)),
    /** A column of differences: `Δ vs RAG (pp)`. */
    differenceColumn: <Item>(key: string, what: string, value: (item: Item) => Parameters<typeof difference>[0]) =>
      intervalColumn(key, `${what} (${differenceHeading})`, (item: Item) => difference(value(item))),
  };
}

/** The metric that decides the verdicts of a run. */
export const primaryMetric = (run: Run): MetricDisplay => metricDisplay(metricsOfRun(run).primary, run);

/** True if the data name their primary metric, as natural-language data do: such runs have more tables. */
export const namesItsMetric = ({ dataset }: Run): boolean => dataset.primaryMetric !== undefined;

/** True if the data plan a contrast of categories: then no mean over all categories is the first result of the run. */
export const plansContrast = ({ dataset }: Run): boolean => dataset.plannedContrast !== undefined;

/** The meaning of task success: `contains for answerable items, abstention for absent ones`. */
export function taskSuccessMeaning(run: Run): string {
  const { label, ofAbsent } = successMetric(metricsOfRun(run));
  return ofAbsent ? label : `${label} for answerable items, abstention for absent ones`;
}

/** The metrics of the calling program and of a judge, except the primary one. */
export function ownMetrics(run: Run): MetricDisplay[] {
  const { name } = metricsOfRun(run).primary;
  return (run.metrics ?? []).filter((metric) => metric.name !== name).map((metric) => metricDisplay(metric, run));
}

/** Finds a built-in metric or one of the calling program by name; undefined if the run does not have it. */
export function findMetric(run: Run, name: string): MetricDisplay | undefined {
  const all = [...builtInMetrics, ...untestedMetrics, ...(run.metrics ?? [])];
  const declared = all.find((metric) => metric.name === name);
  return declared === undefined ? undefined : metricDisplay(declared, run);
}

export const metricsNamed = (run: Run, ...names: readonly string[]): MetricDisplay[] =>
  names.map((name) => findMetric(run, name)!);
