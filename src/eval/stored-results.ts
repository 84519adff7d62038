import { BenchError } from '../config/bench-error.ts';
import type { BenchDatabase } from '../db/database.ts';
import { RunRepository } from '../db/run-repository.ts';
import type { RunRow } from '../db/schema.ts';
import { TurnRepository } from '../db/turn-repository.ts';
import { judge } from './gates/judge.ts';
import type { RunDescription, RunResults } from './results.ts';
import type { ArmTraits } from './run/arms.ts';
import type { RunProbes } from './run/run-probes.ts';
import { storedTurn, type AnsweredTurn, type FailedTurn } from './stored-turn.ts';
import { armResults } from './summary/arm-results.ts';
import { compareWithRag } from './summary/comparisons.ts';
import { promptNotes } from './summary/prompt-notes.ts';
import { regimeOf } from './summary/regime.ts';
import { unknownQuality, withoutQuality } from './unknown-quality.ts';

/** What the `config` column of a run holds: all that its turns depend on. */
export interface StoredConfig {
  readonly arms: readonly ArmTraits[];
  readonly margin: number;
  readonly [option: string]: unknown;
}

/**
 * Computes the results of a run from its stored turns; of the latest run without a name.
 * @throws BenchError `not-found` where there is no such run, or it was ended before its last turn
 */
export function resultsOfRun(database: BenchDatabase, runName?: string): RunResults {
  const runs = new RunRepository(database);
  const run = runName === undefined ? runs.list().at(-1) : runs.findByName(runName);
  if (run === undefined) {
    const known = runs.list().map(({ name }) => name);
    throw new BenchError(
      'not-found',
      runName === undefined ? `${database.path} holds no run` : `${database.path} holds no run "${runName}"`,
      known.length === 0 ? 'make one: npm run bench' : `the last runs are ${known.slice(-3).join(', ')}`,
    );
  }
  if (run.status === 'running' || run.status === 'interrupted') {
    throw new BenchError(
      'not-found',
      `run "${run.name}" is not finished: it has no results yet`,
      `go on with it: npm run bench -- --resume ${run.name}`,
    );
  }
  return summarise(database, run);
}

/** The results of a run whose turns are all there. */
export function summarise(database: BenchDatabase, run: RunRow): RunResults {
  const { arms, margin } = run.config as StoredConfig;
  const probes = run.probes as RunProbes;
  const answered: AnsweredTurn[] = [];
  const failed: FailedTurn[] = [];
  for (const row of new TurnRepository(database).listByRun(run.id)) {
    const turn = storedTurn(row);
    if (turn.state === 'answered') answered.push(turn);
    else failed.push(turn);
  }
  const names = arms.map((arm) => arm.name);
  const regime = regimeOf(answered, names);
  const description = describe(run, probes);
  const judged = description.unknownQuality === null;
  const shown = judged ? answered : answered.map(withoutQuality);
  return {
    run: { ...description, notes: [...probes.notes, ...promptNotes(answered, names)] },
    arms: arms.map((arm) =>
      armResults(
        arm,
        shown.filter((turn) => turn.arm === arm.name),
        failed.filter((turn) => turn.arm === arm.name).length,
        { regime, seed: run.seed, judged },
      ),
    ),
    comparisons: compareWithRag(shown, names, regime, { seed: run.seed, margin }),
    ...judge({ arms, answered, failed, probes, seed: run.seed, randomWeights: !judged }),
  };
}

function describe(run: RunRow, probes: RunProbes): Omit<RunDescription, 'notes'> {
  const model = run.model as RunDescription['model'];
  return {
    id: run.id,
    name: run.name,
    suite: run.suite,
    seed: run.seed,
    status: run.status as RunDescription['status'],
    startedAt: new Date(run.startedAt).toISOString(),
    finishedAt: run.finishedAt === null ? null : new Date(run.finishedAt).toISOString(),
    model,
    embedder: run.embedder as RunDescription['embedder'],
    dataset: run.dataset as RunDescription['dataset'],
    retriever: run.retriever as RunDescription['retriever'],
    unknownQuality: unknownQuality(model),
    environment: run.environment as RunDescription['environment'],
    settings: run.config as StoredConfig,
    profile: probes.profile,
    tokenisation: probes.tokenisation,
    kvStores: probes.kvStores,
  };
}
