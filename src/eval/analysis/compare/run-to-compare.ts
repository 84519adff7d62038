import { BenchError, didYouMean } from '../../../base/bench-error.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import type { Turns, RunTurns } from '../turns-by-arm.ts';
import { checkRun } from '../checks/decide-checks.ts';
import { metricsOfRun } from '../metrics/metric-selection.ts';
import { redactResult } from '../redact-turn.ts';
import { withholdsTexts } from '../text-restrictions.ts';
import { splitByCache } from '../summary/arms-by-role.ts';
import { unknownQuality } from '../unknown-quality.ts';

/** Prepares a run for a comparison; of an unfinished run, the turns that it has. */
export function runToCompare(run: RunRecord, turns: RunTurns) {
  const { arms, armsNotRun, settings, metricsVersion = 1 } = run.plan;
  const { probes } = run;
  const metrics = metricsOfRun({ dataset: run.dataset, ...run.plan });
  const checks = probes !== null && run.status === 'finished' ? checkRun({ ...run, probes }, turns, metrics) : [];
  const shown = withholdsTexts(run) ? turns.answered.map((turn) => redactResult(turn)) : turns.answered;
  const byArm = Map.groupBy(shown, ({ arm }) => arm);
  return {
    run,
    settings: { ...settings, metricsVersion, ...(armsNotRun.length > 0 && { armsNotRun }) } as Record<string, unknown>,
    randomWeights: unknownQuality(run.model) !== null,
    metrics,
    // Numbers of a run with failed checks must not be quoted. An unfinished run has no checks.
    failedChecks: checks.filter(({ status }) => status === 'failed').map(({ check }) => check),
    arms: arms.map(({ name }) => name),
    turns: (arm: string): Turns => byArm.get(arm) ?? [],
    // Turns of all arms on items on which the primary arm had a cache hit.
    hits: new Set(splitByCache(shown, arms).hits(shown)),
    failedTurns: (arm: string) => turns.failed.filter((turn) => turn.arm === arm).length,
  };
}

export type RunToCompare = ReturnType<typeof runToCompare>;

export interface ArmPair {
  readonly a: string;
  readonly b: string;
}

/** Pairs arms of two runs. @param names `rag`, or `rag/dki`. Default: all common arms @throws BenchError `not-found` */
export function armPairs(a: RunToCompare, b: RunToCompare, names: readonly string[] | undefined): ArmPair[] {
  if (names === undefined) {
    const common = a.arms.filter((arm) => b.arms.includes(arm));
    if (common.length > 0) return common.map((arm) => ({ a: arm, b: arm }));
    const message = `runs "${a.run.name}" and "${b.run.name}" have no arm in common`;
    const hint = `name one of each with --arms ${a.arms[0] ?? 'A'}/${b.arms[0] ?? 'B'}: ${a.arms.join(', ')} against ${b.arms.join(', ')}`;
    throw new BenchError('not-found', message, hint);
  }
  const requireArm = ({ run, arms }: RunToCompare, arm: string): string => {
    if (arms.includes(arm)) return arm;
    const message = `run "${run.name}" has no arm "${arm}"${didYouMean(arm, arms)}`;
    throw new BenchError('not-found', message, `it has ${arms.join(', ')}`);
  };
  return names.map((name) => {
    const [first = '', second = first] = name.split('/', 2);
    return { a: requireArm(a, first), b: requireArm(b, second) };
  });
}
