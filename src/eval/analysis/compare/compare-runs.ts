import { BenchError } from '../../../base/bench-error.ts';
import type { BenchDatabase } from '../../../store/database.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import { readStoredTurns } from '../results-from-stored-turns.ts';
import { toDeclaration } from '../metrics/metric-selection.ts';
import type { Turns } from '../turns-by-arm.ts';
import { type ArmPair, armPairs, runToCompare, type RunToCompare } from './run-to-compare.ts';
import { differentMachines, differentSettings, differentSubjects } from './setup-differences.ts';
import { metricDifferences } from './metric-differences.ts';
import { mean } from '../statistics/observations.ts';

export type RunSummary = ReturnType<typeof summary>;

export type RunsComparison = ReturnType<typeof compareStoredRuns>;

export interface ComparisonOptions {
  /** `rag`: in both runs; `rag/dki`: rag of the first with dki of the second. Default: all arms that both runs have. */
  readonly arms?: readonly string[] | undefined;
  readonly force: boolean;
  readonly seed: number;
  readonly margin: number;
}

function summary({ run, failedChecks }: RunToCompare) {
  const { id, name, suite, status } = run;
  const startedAt = new Date(run.startedAt).toISOString();
  return { id, name, suite, status, startedAt, failedChecks, model: run.model.name, dataset: run.dataset.name };
}

function matchItems(a: RunToCompare, b: RunToCompare, arms: ArmPair) {
  const byItem = (turns: Turns) => new Map(turns.map(({ itemId, item }) => [itemId, item.gold]));
  const [golds, others] = [byItem(a.turns(arms.a)), byItem(b.turns(arms.b))];
  const common = [...golds.keys()].filter((id) => others.has(id));
  return {
    common: common.length,
    onlyA: golds.size - common.length,
    onlyB: others.size - common.length,
    differentGolds: common.filter((id) => golds.get(id) !== others.get(id)).length,
  };
}

function pairingNotes(a: RunToCompare, b: RunToCompare, arms: ArmPair): string[] {
  const { common, onlyA, onlyB, differentGolds } = matchItems(a, b, arms);
  const [failedA, failedB] = [a.failedTurns(arms.a), b.failedTurns(arms.b)];
  const [nameA, nameB] = [a.run.name, b.run.name];
  const arm = arms.a === arms.b ? arms.a : `${arms.a}/${arms.b}`;
  const notes: readonly (readonly [number, string])[] = [
    [onlyA + onlyB, `${common} items in common; ${onlyA} only in ${nameA}, ${onlyB} only in ${nameB}`],
    [differentGolds, `${differentGolds} items have the same id but different golds`],
    [failedA + failedB, `${failedA} failed turns in ${nameA}, ${failedB} in ${nameB}: means leave them out`],
  ];
  return notes.flatMap(([count, note]) => (count > 0 ? [`${arm}: ${note}`] : []));
}

function requireComparable(a: RunToCompare, b: RunToCompare, force: boolean): void {
  if (a.run.id === b.run.id) throw new BenchError('bad-option', `"${a.run.name}" is named twice`, 'name two runs');
  const [first] = differentSubjects(a.run, b.run);
  if (first === undefined || force) return;
  const message = `runs "${a.run.name}" and "${b.run.name}" differ in ${first.what}: ${first.a} and ${first.b}`;
  throw new BenchError('bad-option', message, 'compare runs of the same data and models, or add --force');
}

/** Compares two stored runs item by item. @throws BenchError `bad-option` if not comparable, `not-found` for an arm */
export function compareStoredRuns(
  database: BenchDatabase,
  runs: { readonly a: RunRecord; readonly b: RunRecord },
  { arms, force, seed, margin }: ComparisonOptions,
) {
  const read = (run: RunRecord) => runToCompare(run, readStoredTurns(database, run.id));
  const [a, b] = [read(runs.a), read(runs.b)];
  requireComparable(a, b, force);
  const pairs = armPairs(a, b, arms);
  if (pairs.every((pair) => matchItems(a, b, pair).common === 0)) {
    const message = `runs "${a.run.name}" and "${b.run.name}" answered no item in common`;
    throw new BenchError('bad-option', message, 'draw both with the same --limit and --seed');
  }
  const quality = !a.randomWeights && !b.randomWeights;
  const machines = differentMachines(a, b);
  const differences = metricDifferences(a, b, pairs, { seed, margin, quality, latency: machines.length === 0 });
  const compared = new Set(differences.map(({ metric }) => metric));
  return {
    a: summary(a),
    b: summary(b),
    // Data and models that differ; empty unless --force was given.
    forced: differentSubjects(a.run, b.run),
    settings: differentSettings(a, b),
    // Reasons not to compare times.
    machines,
    primary: a.metrics.primary.name,
    metrics: a.metrics.all.filter(({ name }) => compared.has(name)).map(toDeclaration),
    differences,
    flips: quality ? pairs.map((pair) => armFlips(a, b, pair)) : [],
    notes: [
      ...pairs.flatMap((pair) => pairingNotes(a, b, pair)),
      ...(quality ? [] : ['weights are random: answers are not compared']),
    ],
  };
}

/** The answers of one run to an item, by repeat, and the share of right ones. */
export type ItemAnswers = NonNullable<ReturnType<typeof itemAnswers>>;

/** Items that an arm answers better in one run than in the other, by task success, in the order of the first run. */
export type ArmFlips = ReturnType<typeof armFlips>;

export type FlippedItem = ArmFlips['items'][number];

function itemAnswers(turns: Turns) {
  const scores = turns.flatMap((turn) => turn.scores.taskSuccess ?? []);
  return scores.length === 0 ? null : { answers: turns.map(({ answer }) => answer.text), right: mean(scores) };
}

function armFlips(a: RunToCompare, b: RunToCompare, arms: ArmPair) {
  const others = Map.groupBy(b.turns(arms.b), ({ itemId }) => itemId);
  const compared = [...Map.groupBy(a.turns(arms.a), ({ itemId }) => itemId)].flatMap(([itemId, turns]) => {
    const [own, other] = [itemAnswers(turns), itemAnswers(others.get(itemId) ?? [])];
    if (own === null || other === null) return [];
    const { userId, item } = turns[0]!;
    const outcome = own.right > other.right ? ('won' as const) : ('lost' as const);
    return [{ itemId, userId, outcome, question: item.query, gold: item.gold, a: own, b: other }];
  });
  const items = compared.filter((item) => item.a.right !== item.b.right);
  const wins = items.filter(({ outcome }) => outcome === 'won').length;
  return { arms, wins, losses: items.length - wins, ties: compared.length - items.length, items };
}
