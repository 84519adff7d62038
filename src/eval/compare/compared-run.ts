import type { BenchDatabase } from '../../db/database.ts';
import type { RunRow } from '../../db/schema.ts';
import { judge } from '../gates/judge.ts';
import { groupBy } from '../group-by.ts';
import type { Scores } from '../metrics/scores.ts';
import type { RunDescription } from '../results.ts';
import type { RunProbes } from '../run/run-probes.ts';
import type { StoredConfig } from '../stored-results.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { readStoredTurns } from '../stored-turns.ts';
import { regimeOf } from '../summary/regime.ts';
import { unknownQuality } from '../unknown-quality.ts';

/** An answered turn, as far as another run is compared by it. */
export interface ComparedTurn {
  readonly itemId: string;
  readonly userId: string;
  readonly arm: string;
  readonly repeat: number;
  readonly answer: string;
  readonly gold: string | null;
  readonly scores: Pick<Scores, 'exactMatch' | 'tokenF1' | 'memoryRecall' | 'abstention' | 'taskSuccess'>;
  readonly goldLogProbability: number | null;
  readonly sequenceSha256: string;
  readonly evaluatedTokens: number;
  readonly firstTokenMs: number;
  /** Its set of memories had been seen before, by the rule of its own run. */
  readonly seen: boolean;
}

/** A run as it was stored, with what keeps its numbers from being quoted. */
export interface ComparedRun {
  readonly id: string;
  readonly name: string;
  readonly suite: string;
  readonly status: RunDescription['status'] | 'running';
  readonly startedAt: string;
  readonly model: RunDescription['model'];
  readonly embedder: RunDescription['embedder'];
  readonly dataset: RunDescription['dataset'];
  readonly settings: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, unknown>>;
  readonly randomWeights: boolean;
  /** Gates that did not hold; those of a run that did not come to its end are not decided. */
  readonly failedGates: readonly string[];
  /** Arms in the order of the run. */
  readonly arms: readonly string[];
  readonly turns: ReadonlyMap<string, readonly ComparedTurn[]>;
  readonly failedTurns: ReadonlyMap<string, number>;
}

function comparedTurn(turn: AnsweredTurn, seen: boolean): ComparedTurn {
  const { itemId, userId, arm, repeat, answer, item, evidence, tokens, timings } = turn;
  const { exactMatch, tokenF1, memoryRecall, abstention, taskSuccess } = turn.scores;
  return {
    itemId,
    userId,
    arm,
    repeat,
    answer,
    gold: item.gold,
    scores: { exactMatch, tokenF1, memoryRecall, abstention, taskSuccess },
    goldLogProbability: evidence.goldLogProbability,
    sequenceSha256: evidence.sequenceSha256,
    evaluatedTokens: tokens.evaluated,
    firstTokenMs: timings.firstToken,
    seen,
  };
}

/** Reads a run for a comparison; one that is not finished gives the turns that it has. */
export function readComparedRun(database: BenchDatabase, run: RunRow): ComparedRun {
  const { arms, ...settings } = run.config as StoredConfig;
  const { answered, failed } = readStoredTurns(database, run.id);
  const names = arms.map(({ name }) => name);
  const { isSeen } = regimeOf(answered, names);
  const model = run.model as RunDescription['model'];
  const randomWeights = unknownQuality(model) !== null;
  const probes = run.probes as RunProbes | null;
  const complete = probes !== null && run.status !== 'running' && run.status !== 'interrupted';
  const { gates } = complete ? judge({ arms, answered, failed, probes, seed: run.seed, randomWeights }) : { gates: [] };
  return {
    id: run.id,
    name: run.name,
    suite: run.suite,
    status: run.status,
    startedAt: new Date(run.startedAt).toISOString(),
    model,
    embedder: run.embedder as RunDescription['embedder'],
    dataset: run.dataset as RunDescription['dataset'],
    settings,
    environment: run.environment as RunDescription['environment'],
    randomWeights,
    failedGates: gates.filter(({ held }) => !held).map(({ gate }) => gate),
    arms: names,
    turns: groupBy(
      answered.map((turn) => comparedTurn(turn, isSeen(turn))),
      ({ arm }) => arm,
    ),
    failedTurns: new Map([...groupBy(failed, ({ arm }) => arm)].map(([arm, turns]) => [arm, turns.length])),
  };
}
