import { builtInMetrics } from '../eval/analysis/metrics/metrics.ts';
import { metricsOfRun, successMetric } from '../eval/analysis/metrics/run-metrics.ts';
import type { MetricDeclaration } from '../store/records/run-description.ts';
import type { Estimate } from '../store/records/estimate.ts';
import type { RunResults } from '../store/records/results.ts';
import { type Cell, type Difference, estimateCell, intervalColumn, type ItemColumn, textCell } from '../render/table.ts'; // prettier-ignore

type Run = RunResults['run'];
type Estimates = Readonly<Record<string, Estimate | null | undefined>>;

/** A cell of quality, or the reason if the run gives none. */
export const qualityCell = ({ unknownQuality }: Run, cell: Cell): Cell =>
  unknownQuality === null ? cell : textCell(unknownQuality);

/** A metric as tables and figures show it: in its unit, shares as percentages. */
export class ShownMetric {
  readonly declared: MetricDeclaration;
  readonly name: string;
  readonly label: string;
  /** `Exact match` */
  readonly title: string;
  /** `%` or `nats` */
  readonly unit: string;
  /** The unit of differences in a sentence, and in a heading: percentage points of a percentage. */
  readonly differenceUnit: string;
  readonly differenceHeading: string;
  readonly scale: 1 | 100;
  readonly digits: number;
  readonly #run: Run;

  constructor(declared: MetricDeclaration, run: Run) {
    const { name, label, unit } = declared;
    const isShare = unit === '%';
    this.declared = declared;
    this.#run = run;
    this.name = name;
    this.label = label;
    this.title = `${label[0]!.toUpperCase()}${label.slice(1)}`;
    this.unit = unit;
    this.differenceUnit = isShare ? 'points' : unit;
    this.differenceHeading = isShare ? 'pp' : unit;
    this.scale = isShare ? 100 : 1;
    this.digits = isShare ? 1 : 3;
  }

  /** Null where it is defined for no item. */
  of(metrics: Estimates): Estimate | null {
    return metrics[this.name] ?? null;
  }

  cell(metrics: Estimates): Cell {
    return qualityCell(this.#run, estimateCell(this.of(metrics), this.scale, this.digits));
  }

  difference(difference: Difference | null | undefined): Cell {
    return estimateCell(difference, this.scale, this.digits);
  }

  /** `exact match (%)` */
  get heading(): string {
    return `${this.label} (${this.unit})`;
  }

  /** The column of this metric in a table of arms, or of other items with metrics. */
  column<Item extends { readonly metrics: Estimates }>(): ItemColumn<Item> {
    return intervalColumn(this.name, this.heading, ({ metrics }) => this.cell(metrics));
  }

  /** A column of differences: `Δ vs RAG (pp)`. */
  differenceColumn<Item>(
    key: string,
    heading: string,
    difference: (item: Item) => Difference | null | undefined,
  ): ItemColumn<Item> {
    return intervalColumn(key, `${heading} (${this.differenceHeading})`, (item) => this.difference(difference(item)));
  }
}

/** The metric that decides the verdicts of a run. */
export const primaryMetric = (run: Run): ShownMetric => new ShownMetric(metricsOfRun(run).primary, run);

/** True for data that name their metric: natural language, whose tables show more than those of the generated grammar. */
export const namesItsMetric = ({ dataset }: Run): boolean => dataset.primaryMetric !== undefined;

/** The meaning of task success: `contains for answerable items, abstention for absent ones`. */
export function taskSuccessMeaning(run: Run): string {
  const { label, ofAbsent } = successMetric(metricsOfRun(run));
  return ofAbsent ? label : `${label} for answerable items, abstention for absent ones`;
}

/** The metrics of the calling program and of a judge, except the primary one. */
export function ownMetrics(run: Run): ShownMetric[] {
  const { name } = metricsOfRun(run).primary;
  return (run.metrics ?? []).filter((metric) => metric.name !== name).map((metric) => new ShownMetric(metric, run));
}

/** A metric of the bench or of the calling program by name; undefined where the run knows none. */
export function metricNamed(run: Run, name: string): ShownMetric | undefined {
  const declared = [...builtInMetrics, ...(run.metrics ?? [])].find((metric) => metric.name === name);
  return declared === undefined ? undefined : new ShownMetric(declared, run);
}

export const metricsNamed = (run: Run, ...names: readonly string[]): ShownMetric[] =>
  names.map((name) => metricNamed(run, name)!);
