import { BenchError } from '../../../base/bench-error.ts';
import { metricDeclaration, type MetricDeclaration } from '../../../store/records/metric-declaration.ts';
import {
  armPairs,
  differentMachines,
  differentSettings,
  differentSubjects,
  type ArmPair,
  type RunDifference,
} from './comparability.ts';
import { comparedRun, type ComparedRun, type RunAndTurns } from './compared-run.ts';
import { armFlips, type ArmFlips } from './flips.ts';
import { metricDifferences, type MetricDifference } from './metric-differences.ts';

/** A run as a comparison describes it. */
export interface RunSummary extends Pick<
  ComparedRun,
  'id' | 'name' | 'suite' | 'status' | 'startedAt' | 'failedChecks'
> {
  readonly model: string;
  readonly dataset: string;
}

/** Two runs, paired by item and arm. */
export interface RunsComparison {
  readonly a: RunSummary;
  readonly b: RunSummary;
  /** Data and models that differ and were compared all the same. */
  readonly forced: readonly RunDifference[];
  /** Settings and code that differ. */
  readonly settings: readonly RunDifference[];
  /** Machines that differ, so that no times are compared; empty where it is one machine. */
  readonly machines: readonly RunDifference[];
  /** The metric that the verdicts of the first run are on, and what the metrics of `differences` say of themselves. */
  readonly primary: string;
  readonly metrics: readonly MetricDeclaration[];
  readonly differences: readonly MetricDifference[];
  /** None for random weights, whose answers say nothing. */
  readonly flips: readonly ArmFlips[];
  readonly notes: readonly string[];
}

export interface ComparisonOptions {
  /** `rag`, or `rag/dki`; all that both runs have where not given. */
  readonly arms?: readonly string[] | undefined;
  /** Compare runs of different data or models all the same. */
  readonly force: boolean;
  readonly seed: number;
  /** Points. */
  readonly margin: number;
}

function summaryOf(run: ComparedRun): RunSummary {
  const { id, name, suite, status, startedAt, failedChecks, model, dataset } = run;
  return { id, name, suite, status, startedAt, failedChecks, model: model.name, dataset: dataset.name };
}

function requireSameSubjects(a: ComparedRun, b: ComparedRun): void {
  const [first] = differentSubjects(a, b);
  if (first === undefined) return;
  const message = `runs "${a.name}" and "${b.name}" differ in ${first.what}: ${first.a} and ${first.b}`;
  throw new BenchError('bad-option', message, 'compare runs of the same data and models, or add --force');
}

function itemsOf(run: ComparedRun, arm: string): Map<string, string | null> {
  return new Map((run.turns.get(arm) ?? []).map(({ itemId, gold }) => [itemId, gold]));
}

/** Notes on the pairing: items of one run alone, golds that differ, turns that failed. */
function pairingNotes(a: ComparedRun, b: ComparedRun, pairs: readonly ArmPair[]): string[] {
  return pairs.flatMap((arms) => {
    const [inA, inB] = [itemsOf(a, arms.a), itemsOf(b, arms.b)];
    const common = [...inA.keys()].filter((id) => inB.has(id));
    const otherGolds = common.filter((id) => inA.get(id) !== inB.get(id)).length;
    const alone = [inA.size - common.length, inB.size - common.length] as const;
    const failed = [a.failedTurns.get(arms.a) ?? 0, b.failedTurns.get(arms.b) ?? 0] as const;
    const name = arms.a === arms.b ? arms.a : `${arms.a}/${arms.b}`;
    return [
      ...(alone[0] + alone[1] > 0
        ? [`${name}: ${common.length} items in common; ${alone[0]} only in ${a.name}, ${alone[1]} only in ${b.name}`]
        : []),
      ...(otherGolds > 0 ? [`${name}: ${otherGolds} items have the same id and another answer`] : []),
      ...(failed[0] + failed[1] > 0
        ? [`${name}: ${failed[0]} failed turns in ${a.name}, ${failed[1]} in ${b.name}, in no mean`]
        : []),
    ];
  });
}

function requireCommonItems(a: ComparedRun, b: ComparedRun, pairs: readonly ArmPair[]): void {
  const some = pairs.some((arms) => {
    const others = itemsOf(b, arms.b);
    return [...itemsOf(a, arms.a).keys()].some((id) => others.has(id));
  });
  if (some) return;
  const message = `runs "${a.name}" and "${b.name}" answered no item in common`;
  throw new BenchError('bad-option', message, 'draw both with the same --limit and --seed');
}

/**
 * Compares two runs item by item: `a` is judged against `b`.
 * @throws BenchError `bad-option` for one run twice, runs of different data or models without `force`, or without a common
 * item; `not-found` without a common arm
 */
export function compareRuns(
  first: RunAndTurns,
  second: RunAndTurns,
  { arms, force, seed, margin }: ComparisonOptions,
): RunsComparison {
  if (first.run.id === second.run.id) {
    throw new BenchError('bad-option', `"${first.run.name}" is named twice`, 'name two runs');
  }
  const [a, b] = [comparedRun(first), comparedRun(second)];
  if (!force) requireSameSubjects(a, b);
  const pairs = armPairs(a, b, arms);
  requireCommonItems(a, b, pairs);
  const quality = !a.randomWeights && !b.randomWeights;
  const machines = differentMachines(a, b);
  const differences = metricDifferences(a, b, pairs, { seed, margin, quality, latency: machines.length === 0 });
  const named = new Set(differences.map(({ metric }) => metric));
  return {
    a: summaryOf(a),
    b: summaryOf(b),
    forced: differentSubjects(a, b),
    settings: differentSettings(a, b),
    machines,
    primary: a.metrics.primary.name,
    metrics: a.metrics.all.filter(({ name }) => named.has(name)).map((metric) => metricDeclaration.parse(metric)),
    differences,
    flips: quality ? pairs.map((pair) => armFlips(a, b, pair)) : [],
    notes: [...pairingNotes(a, b, pairs), ...(quality ? [] : ['weights are random: answers are not compared'])],
  };
}
