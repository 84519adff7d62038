import type { CheckName } from '../../../store/records/results.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import { decideChecks } from '../checks/decide-checks.ts';
import { plannedSample } from '../checks/sample.ts';
import { metricsOfRun, type RunMetrics } from '../metrics/run-metrics.ts';
import { regimeOf } from '../summary/regime.ts';
import { resultWithoutTexts } from '../texts/turn-without-texts.ts';
import { storesTexts, withholdsTexts } from '../texts/withheld-texts.ts';
import type { TurnsOfRun } from '../turns-of-run.ts';
import { unknownQuality } from '../unknown-quality.ts';

/** A run and the turns that are there of it. */
export interface RunAndTurns {
  readonly run: RunRecord;
  readonly turns: TurnsOfRun;
}

/** An answered turn, as far as another run is compared by it. */
export interface ComparedTurn {
  readonly itemId: string;
  readonly userId: string;
  readonly arm: string;
  readonly repeat: number;
  readonly answer: string;
  readonly question: string;
  readonly gold: string | null;
  /** By name of the metric. */
  readonly values: Readonly<Record<string, number | null>>;
  readonly sequenceSha256: string;
  readonly evaluatedTokens: number;
  readonly firstTokenMs: number;
  /** A cache hit, by the regime of its own run. */
  readonly hit: boolean;
}

/** A run as it was stored, with the checks that keep its numbers from being quoted. */
export interface ComparedRun extends Pick<
  RunRecord,
  'id' | 'name' | 'suite' | 'status' | 'model' | 'embedder' | 'dataset'
> {
  readonly startedAt: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, unknown>>;
  readonly randomWeights: boolean;
  readonly metrics: RunMetrics;
  /** Checks of a run that did not come to its end are not decided. */
  readonly failedChecks: readonly CheckName[];
  /** Arms in the order of the run. */
  readonly arms: readonly string[];
  readonly turns: ReadonlyMap<string, readonly ComparedTurn[]>;
  readonly failedTurns: ReadonlyMap<string, number>;
}

function comparedTurn(turn: AnsweredResult, hit: boolean, { all }: RunMetrics): ComparedTurn {
  const { itemId, userId, arm, repeat, answer, item, observed, tokens, timings } = turn;
  return {
    itemId,
    userId,
    arm,
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

/** Prepares a run for a comparison; one that is not finished gives the turns that it has. */
export function comparedRun({ run, turns: { answered, failed } }: RunAndTurns): ComparedRun {
  const { id, name, suite, status, seed, model, embedder, dataset, environment, plan, probes } = run;
  const { arms, armsNotRun, settings } = plan;
  const hits = new Set(regimeOf(answered, arms).hits(answered));
  const metrics = metricsOfRun({ dataset, metrics: plan.metrics ?? [] });
  const randomWeights = unknownQuality(model) !== null;
  const shown = withholdsTexts(run) ? answered.map((turn) => resultWithoutTexts(turn)) : answered;
  const complete = probes !== null && status === 'finished';
  const checks = complete
    ? decideChecks({
        ...{ arms, answered, failed, probes, metrics, seed, plan: plannedSample(run) },
        ...{ textsStored: storesTexts(run), randomWeights },
      })
    : [];
  return {
    id,
    name,
    suite,
    status,
    startedAt: new Date(run.startedAt).toISOString(),
    model,
    embedder,
    dataset,
    settings: armsNotRun.length === 0 ? settings : { ...settings, armsNotRun },
    environment,
    randomWeights,
    metrics,
    failedChecks: checks.filter((result) => result.status === 'failed').map(({ check }) => check),
    arms: arms.map((arm) => arm.name),
    turns: Map.groupBy(
      shown.map((turn, place) => comparedTurn(turn, hits.has(answered[place]!), metrics)),
      ({ arm }) => arm,
    ),
    failedTurns: new Map([...Map.groupBy(failed, ({ arm }) => arm)].map(([arm, turns]) => [arm, turns.length])),
  };
}
