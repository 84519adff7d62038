import { BenchError, didYouMean } from '../../../base/bench-error.ts';
import { type MetricDeclaration, metricDeclaration } from '../../../store/records/run-description.ts';
import { costNames } from '../../../store/records/run-results.ts';
import type { MetricsVersion } from './metrics-version.ts';
import { builtInMetrics, judgeMetric, type MetricDefinition, untestedMetrics } from './built-in-metrics.ts';

const registered = new Map<string, MetricDefinition>();

const NAME = /^[A-Za-z][A-Za-z0-9]{0,39}$/;

const TAKEN = new Set([
  ...[...builtInMetrics, ...untestedMetrics, judgeMetric].map(({ name }) => name),
  'ttftMs',
  'totalMs',
  ...costNames,
]);

/**
 * Adds a metric to every run that this process starts: its value is computed when a turn is written, stored with the
 * turn, averaged, and shown in the tables under its label. The self-test includes it: a metric that scores golds no
 * better than other answers fails the check `metrics`. A data set may name it as its `primaryMetric`.
 *
 * @example
 * import { loadBenchConfig, registerMetric, runBench } from 'dki-bench';
 * registerMetric({
 *   name: 'brevity', label: 'right in five words', kind: 'binary', unit: '%', direction: 'higher', margin: 2,
 *   of: ({ answer, scores }) => scores.contains && Number(answer.text.trim().split(/\s+/).length <= 5),
 * });
 * const [results] = await runBench(loadBenchConfig({ flags: { limit: '24' } }));
 * console.log(results?.arms.map(({ arm, metrics }) => [arm, metrics['brevity']?.mean]));
 *
 * @throws BenchError `bad-option` for a name that is taken or invalid, and for an incomplete declaration
 */
export function registerMetric(definition: MetricDefinition): void {
  const { name, margin } = definition;
  const refuse = (problem: string, hint: string): never => {
    throw new BenchError('bad-option', `metric ${JSON.stringify(name)}: ${problem}`, hint);
  };
  if (!NAME.test(name)) refuse('is not a valid name', 'use letters and digits, a letter first');
  if (TAKEN.has(name) || registered.has(name) || name in {}) refuse('the name is taken', 'choose another name');
  const [issue] = metricDeclaration.safeParse(definition).error?.issues ?? [];
  if (issue !== undefined) {
    refuse(`${issue.path.join('.')}: ${issue.message}`, 'declare name, label, kind, unit, direction and margin');
  }
  if (!(margin >= 0)) refuse(`margin ${margin}`, 'give a margin of 0 or more');
  registered.set(name, definition);
}

export function registeredMetrics(): readonly MetricDefinition[] {
  return [...registered.values()];
}

export function toDeclaration(definition: MetricDefinition): MetricDeclaration {
  return metricDeclaration.parse(definition);
}

/** Checks a value of a registered metric and returns it. @throws BenchError `bad-option` if unit or kind exclude it */
export function checkedValue({ name, kind, unit }: MetricDeclaration, value: number | null): number | null {
  if (value === null) return null;
  const isShare = unit === '%' && value >= 0 && value <= 1;
  const fits = kind === 'binary' ? value === 0 || value === 1 : isShare || (unit !== '%' && Number.isFinite(value));
  if (fits) return value;
  const allowed =
    kind === 'binary' ? '0, 1 or null' : unit === '%' ? 'a share from 0 to 1, or null' : 'a number or null';
  throw new BenchError('bad-option', `metric "${name}" gave ${value}`, `it is ${kind}, in ${unit}: give ${allowed}`);
}

/** Metrics of a run beyond the built-in ones: those of the calling program, and the judge's verdict. */
export function additionalMetrics({ judge }: { readonly judge?: unknown }): readonly MetricDefinition[] {
  return [...registeredMetrics(), ...(judge === undefined ? [] : [judgeMetric])];
}

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
  const message = `the primary metric of the run, ${name}, is unknown to this version`;
  throw new BenchError('database', message, 'it was written by another release; run the bench again with this one');
}

function requireOneOf(metrics: readonly MetricDeclaration[], name: string, problem: string): void {
  const known = metrics.map((metric) => metric.name);
  if (known.includes(name)) return;
  throw new BenchError('bad-data', problem + didYouMean(name, known), `name one of ${known.join(', ')}`);
}

/** Checks the primary metric of data or a suite. @param place file and line, or suite @throws BenchError `bad-data` */
export function requirePrimary(name: string, own: readonly MetricDeclaration[], place: string): void {
  const allowed = [...builtInMetrics, ...own].filter((metric) => !NEVER_PRIMARY.has(metric.name));
  requireOneOf(allowed, name, `${place}: primaryMetric ${JSON.stringify(name)} cannot be primary`);
}

/** Checks the metric of a planned contrast, which is one of shares. @throws BenchError `bad-data` */
export function requireContrastMetric(name: string, own: readonly MetricDeclaration[], place: string): void {
  const shares = [...builtInMetrics, ...own].filter(({ unit }) => unit === '%');
  requireOneOf(shares, name, `${place}: plannedContrast.metric ${JSON.stringify(name)} is no metric in %`);
}

/** The metric that decides whether an answer is right: the primary one if it is in %, else `contains`. */
export function successMetric({ all, primary }: RunMetrics): MetricDefinition {
  return primary.unit === '%' ? primary : all.find(({ name }) => name === 'contains')!;
}
