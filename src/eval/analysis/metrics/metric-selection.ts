import { BenchError, didYouMean } from '../../../base/bench-error.ts';
import type { MetricDeclaration } from '../../../store/records/run-description.ts';
import type { MetricsVersion } from './metrics-version.ts';
import { builtInMetrics, type MetricDefinition, untestedMetrics } from './built-in-metrics.ts';

/** Primary metric for data sets that name none. */
const DEFAULT_PRIMARY = 'exactMatch';

/** Metrics derived from another one, or without a value on answerable items. */
const NEVER_PRIMARY = new Set(['taskSuccess', 'abstention', 'topOneAgreement', 'klDivergence', 'freeLogProbability']);

export interface RunMetrics {
  readonly all: readonly MetricDefinition[];
  readonly primary: MetricDefinition;
  readonly version: MetricsVersion;
}

export interface MeasuredRun {
  readonly dataset: { readonly primaryMetric?: string };
  readonly metrics?: readonly MetricDeclaration[];
  readonly metricsVersion?: MetricsVersion;
}

/** The metrics of a stored run. @throws BenchError `database` for a primary metric of another release */
export function metricsOfRun({ dataset, metrics = [], metricsVersion = 1 }: MeasuredRun): RunMetrics {
  const own = metrics.map((declared): MetricDefinition => ({
    ...declared,
    of: ({ scores }) => scores.own?.[declared.name] ?? null,
  }));
  const all = [...builtInMetrics, ...untestedMetrics, ...own];
  const name = dataset.primaryMetric ?? DEFAULT_PRIMARY;
  const primary = all.find((metric) => metric.name === name);
  if (primary !== undefined) return { all, primary, version: metricsVersion };
  throw new BenchError(
    'database',
    `the primary metric of the run, ${name}, is unknown to this version`,
    'it was written by another release; run the bench again with this one',
  );
}

/** Checks the primary metric of data or a suite. @param place file and line, or suite @throws BenchError `bad-data` */
export function requirePrimary(name: string, own: readonly MetricDeclaration[], place: string): void {
  const known = [...builtInMetrics, ...own].map((metric) => metric.name).filter((one) => !NEVER_PRIMARY.has(one));
  if (known.includes(name)) return;
  throw new BenchError(
    'bad-data',
    `${place}: primaryMetric ${JSON.stringify(name)} cannot be primary${didYouMean(name, known)}`,
    `name one of ${known.join(', ')}`,
  );
}

/** Checks the metric of a planned contrast, which is one of shares. @throws BenchError `bad-data` */
export function requireContrastMetric(name: string, own: readonly MetricDeclaration[], place: string): void {
  const known = [...builtInMetrics, ...own].filter(({ unit }) => unit === '%').map((metric) => metric.name);
  if (known.includes(name)) return;
  throw new BenchError(
    'bad-data',
    `${place}: plannedContrast.metric ${JSON.stringify(name)} is no metric in %${didYouMean(name, known)}`,
    `name one of ${known.join(', ')}`,
  );
}

/** The metric that decides whether an answer is right: the primary one if it is in %, else `contains`. */
export function successMetric({ all, primary }: RunMetrics): MetricDefinition {
  return primary.unit === '%' ? primary : all.find(({ name }) => name === 'contains')!;
}
