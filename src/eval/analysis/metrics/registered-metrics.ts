import { BenchError } from '../../../base/bench-error.ts';
import { metricDeclaration, type MetricDeclaration } from '../../../store/records/run-description.ts';
import { builtInMetrics, judgeMetric, type MetricDefinition, untestedMetrics } from './built-in-metrics.ts';

const registered = new Map<string, MetricDefinition>();

const NAME = /^[A-Za-z][A-Za-z0-9]{0,39}$/;

const TAKEN = new Set([
  ...[...builtInMetrics, ...untestedMetrics, judgeMetric].map(({ name }) => name),
  'ttftMs',
  'totalMs',
  'ttftLogRatio',
  'evaluatedTokens',
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
