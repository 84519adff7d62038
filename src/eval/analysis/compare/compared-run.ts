import type { CheckName } from '../../../store/records/results.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import type { TurnsOfRun } from '../arm-turns.ts';
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

/** An answered turn of a compared run. */
export interface ComparedTurn {
  readonly itemId: string;
  readonly userId: string;
  readonly repeat: number;
  readonly answer: string;
  readonly question: string;
  readonly gold: string | null;
  /** By name of the metric. */
  readonly values: Readonly<Record<string, number | null>>;
  readonly sequenceSha256: string;
  readonly evaluatedTokens: number;
  readonly firstTokenMs: number;
  /** The primary arm of its run had a cache hit. */
  readonly hit: boolean;
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
  readonly turns: ReadonlyMap<string, readonly ComparedTurn[]>;
  readonly failedTurns: ReadonlyMap<string, number>;
}

function comparedTurn(turn: AnsweredResult, hit: boolean, { all }: RunMetrics): ComparedTurn {
  const { itemId, userId, repeat, answer, item, observed, tokens, timings } = turn;
  return {
    itemId,
    userId,
    repeat,
    answer: answer.text,
    question: item.query,
    gold: item.gold,
    values: Object.fromEntries(all.map((metric) => [metric.name, metric.of(turn)])),
    sequenceSha256: observed.sequenceSha256,
    evaluatedTokens: tokens.evaluated,
    firstTokenMs: timings.firstToken,
    hit,
  };
}

/** Prepares a run for a comparison; an unfinished run is compared by the turns that it has. */
export function comparedRun({ run, turns: { answered, failed } }: RunAndTurns): ComparedRun {
  const { arms, armsNotRun, settings } = run.plan;
  const { probes } = run;
  const hits = new Set(cacheRegime(answered, arms).hits(answered));
  const metrics = metricsOfRun({ dataset: run.dataset, metrics: run.plan.metrics ?? [] });
  const isWithheld = withholdsTexts(run);
  const checks =
    probes !== null && run.status === 'finished' ? checksOfRun({ ...run, probes }, { answered, failed }, metrics) : [];
  const byArm = Map.groupBy(answered, ({ arm }) => arm);
  return {
    run,
    settings: armsNotRun.length === 0 ? settings : { ...settings, armsNotRun },
    randomWeights: unknownQuality(run.model) !== null,
    metrics,
    failedChecks: checks.filter(({ status }) => status === 'failed').map(({ check }) => check),
    arms: arms.map(({ name }) => name),
    turns: new Map(
      [...byArm].map(([arm, turns]) => [
        arm,
        turns.map((turn) => comparedTurn(isWithheld ? resultWithoutTexts(turn) : turn, hits.has(turn), metrics)),
      ]),
    ),
    failedTurns: new Map([...Map.groupBy(failed, ({ arm }) => arm)].map(([arm, turns]) => [arm, turns.length])),
  };
}
