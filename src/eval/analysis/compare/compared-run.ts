import type { CheckName } from '../../../store/records/results.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import type { Turns, TurnsOfRun } from '../arm-turns.ts';
import { checksOfRun } from '../checks/decide-checks.ts';
import { metricsOfRun, type RunMetrics } from '../metrics/run-metrics.ts';
import { resultWithoutTexts, withholdsTexts } from '../redact.ts';
import { cacheRegime } from '../summary/regime.ts';
import { unknownQuality } from '../unknown-quality.ts';

/** A run and its stored turns. */
export interface RunAndTurns {
  readonly run: RunRecord;
  readonly turns: TurnsOfRun;
}

/** A stored run prepared for a comparison. */
export interface ComparedRun {
  readonly run: RunRecord;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly randomWeights: boolean;
  readonly metrics: RunMetrics;
  /** Failed checks, which keep its numbers from being quoted; empty for an unfinished run. */
  readonly failedChecks: readonly CheckName[];
  /** In the order of the run. */
  readonly arms: readonly string[];
  /** The answered turns of an arm, with hashes in place of texts that are withheld. */
  readonly turns: (arm: string) => Turns;
  /** Turns on which the primary arm of the run had a cache hit. */
  readonly hits: ReadonlySet<AnsweredResult>;
  readonly failedTurns: (arm: string) => number;
}

/** Prepares a run for a comparison; an unfinished run is compared by the turns that it has. */
export function comparedRun({ run, turns }: RunAndTurns): ComparedRun {
  const { arms, armsNotRun, settings } = run.plan;
  const { probes } = run;
  const metrics = metricsOfRun({ dataset: run.dataset, metrics: run.plan.metrics ?? [] });
  const checks = probes !== null && run.status === 'finished' ? checksOfRun({ ...run, probes }, turns, metrics) : [];
  const shown = withholdsTexts(run) ? turns.answered.map((turn) => resultWithoutTexts(turn)) : turns.answered;
  const byArm = Map.groupBy(shown, ({ arm }) => arm);
  return {
    run,
    settings: armsNotRun.length === 0 ? settings : { ...settings, armsNotRun },
    randomWeights: unknownQuality(run.model) !== null,
    metrics,
    failedChecks: checks.filter(({ status }) => status === 'failed').map(({ check }) => check),
    arms: arms.map(({ name }) => name),
    turns: (arm) => byArm.get(arm) ?? [],
    hits: new Set(cacheRegime(shown, arms).hits(shown)),
    failedTurns: (arm) => turns.failed.filter((turn) => turn.arm === arm).length,
  };
}
