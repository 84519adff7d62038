import { BenchError } from '../../../base/bench-error.ts';
import { didYouMean } from '../../../base/nearest-name.ts';
import type { MetricDeclaration } from '../../../store/records/metric-declaration.ts';
import type { MetricDefinition } from './metric-definition.ts';
import { builtInMetrics } from './metrics.ts';

/** Of data that name none. */
const DEFAULT_PRIMARY = 'exactMatch';

/** Metrics that are made from another, or that no answerable item has. */
const NEVER_PRIMARY = new Set(['taskSuccess', 'abstention', 'topOneAgreement', 'klDivergence', 'freeLogProbability']);

/** The metrics of a run: all that it has values of, and the one that its verdicts are on. */
export interface RunMetrics {
  readonly all: readonly MetricDefinition[];
  readonly primary: MetricDefinition;
}

/** The parts of a run, or of its description, that say what it is measured by. */
export interface MeasuredRun {
  readonly dataset: { readonly primaryMetric?: string };
  /** Of the calling program. */
  readonly metrics?: readonly MetricDeclaration[];
}

/** A metric of the calling program, whose values stand in the turns. */
function storedMetric(declared: MetricDeclaration): MetricDefinition {
  return { ...declared, of: ({ scores }) => scores.own?.[declared.name] ?? null };
}

/** The metrics of a run that was made, as it was declared. */
export function metricsOfRun({ dataset, metrics = [] }: MeasuredRun): RunMetrics {
  const all = [...builtInMetrics, ...metrics.map(storedMetric)];
  const name = dataset.primaryMetric ?? DEFAULT_PRIMARY;
  const primary = all.find((metric) => metric.name === name);
  if (primary !== undefined) return { all, primary };
  throw new BenchError(
    'database',
    `the run is judged by ${name}, which this program does not know`,
    'it was written by another release; run the bench again with this one',
  );
}

/**
 * Finds the primary metric that data name, among the bench's own and those of the calling program.
 * @param place of the name, for the message
 * @throws BenchError `bad-data` for one that there is not, or that judges no answer
 */
export function requirePrimary(name: string, own: readonly MetricDeclaration[], place: string): void {
  const known = [...builtInMetrics, ...own].map((metric) => metric.name).filter((one) => !NEVER_PRIMARY.has(one));
  if (known.includes(name)) return;
  throw new BenchError(
    'bad-data',
    `${place}: primaryMetric ${JSON.stringify(name)} is no metric that can be primary${didYouMean(name, known)}`,
    `name one of ${known.join(', ')}`,
  );
}

/**
 * The metric that decides whether an answer is right: the primary one where its values are shares, else `contains`, since a
 * log-probability is neither right nor wrong.
 */
export function successMetric({ all, primary }: RunMetrics): MetricDefinition {
  return primary.unit === '%' ? primary : all.find(({ name }) => name === 'contains')!;
}
