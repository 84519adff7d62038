import { builtInMetrics } from '../eval/analysis/metrics/metrics.ts';
import { metricsOfRun, successMetric } from '../eval/analysis/metrics/run-metrics.ts';
import type { MetricDeclaration } from '../store/records/metric-declaration.ts';
import type { Estimate, RunResults } from '../store/records/results.ts';
import { type Cell, type Column, estimateCell, qualityCell } from '../render/table.ts';

type Run = RunResults['run'];
type Estimates = Readonly<Record<string, Estimate | null | undefined>>;

/** A metric as tables and figures show it: in its unit, shares as percentages. */
export class ShownMetric {
  readonly declared: MetricDeclaration;
  readonly #run: Run;

  constructor(declared: MetricDeclaration, run: Run) {
    this.declared = declared;
    this.#run = run;
  }

  get name(): string {
    return this.declared.name;
  }

  get label(): string {
    return this.declared.label;
  }

  /** `Exact match` */
  get title(): string {
    return `${this.label[0]!.toUpperCase()}${this.label.slice(1)}`;
  }

  /** `%` or `nats` */
  get unit(): string {
    return this.declared.unit;
  }

  /** The unit of differences: points of a percentage. */
  get differenceUnit(): string {
    return this.unit === '%' ? 'points' : this.unit;
  }

  /** The meaning of task success, where this metric decides: `contains for answerable items, abstention for absent ones`. */
  get ofTask(): string {
    return this.declared.ofAbsent ? this.label : `${this.label} for answerable items, abstention for absent ones`;
  }

  get scale(): 1 | 100 {
    return this.unit === '%' ? 100 : 1;
  }

  get digits(): number {
    return this.unit === '%' ? 1 : 3;
  }

  /** Null where it is defined of no item. */
  of(metrics: Estimates): Estimate | null {
    return metrics[this.name] ?? null;
  }

  cell(metrics: Estimates): Cell {
    return qualityCell(this.#run, this.difference(this.of(metrics)));
  }

  /** A value, or a difference of two, in the unit. */
  difference(estimate: Pick<Estimate, 'mean' | 'low' | 'high'> | null | undefined): Cell {
    return estimateCell(estimate, this.scale, this.digits);
  }

  column(key = this.name): Column {
    return { key, heading: this.label, unit: this.unit, align: 'right', interval: true };
  }
}

/** The metric that the verdicts of a run are on. */
export function primaryMetric(run: Run): ShownMetric {
  return new ShownMetric(metricsOfRun(run).primary, run);
}

/** True of data that name the metric they are judged by: natural language, whose tables show more than those of the made grammar. */
export function namesItsMetric({ dataset }: Run): boolean {
  return dataset.primaryMetric !== undefined;
}

/** The metric that decides whether an answer of a run is right. */
export function successOf(run: Run): ShownMetric {
  return new ShownMetric(successMetric(metricsOfRun(run)), run);
}

/** The metrics of the calling program and of a judge, but for the primary one. */
export function ownMetricsOf(run: Run): ShownMetric[] {
  const { name } = metricsOfRun(run).primary;
  return (run.metrics ?? []).filter((metric) => metric.name !== name).map((metric) => new ShownMetric(metric, run));
}

/** A metric of the bench, or of the calling program, by name; undefined where the run knows none. */
export function metricNamed(run: Run, name: string): ShownMetric | undefined {
  const declared = [...builtInMetrics, ...(run.metrics ?? [])].find((metric) => metric.name === name);
  return declared === undefined ? undefined : new ShownMetric(declared, run);
}
