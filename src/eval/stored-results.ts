import { basename } from 'node:path';
import type { SuiteName } from '../config/bench-config.ts';
import { BenchError } from '../config/bench-error.ts';
import { didYouMean } from '../config/nearest-name.ts';
import type { BenchDatabase } from '../db/database.ts';
import { RunRepository } from '../db/run-repository.ts';
import type { RunRow } from '../db/schema.ts';
import { judge } from './gates/judge.ts';
import type { Measured, RunDescription, RunResults } from './results.ts';
import type { ArmTraits } from './run/arms.ts';
import type { ArmNotRun } from './run/model-ability.ts';
import type { RunProbes } from './run/run-probes.ts';
import { groupOf, lastRunsHint } from './run-name.ts';
import { readStoredTurns } from './stored-turns.ts';
import { armResults } from './summary/arm-results.ts';
import { breakEvens } from './summary/break-even.ts';
import { compareWithRag } from './summary/comparisons.ts';
import { conditionResults } from './summary/condition-results.ts';
import { leakMatrices } from './summary/leak-matrices.ts';
import { promptNotes } from './summary/prompt-notes.ts';
import { retrievalNotes } from './summary/retrieval-notes.ts';
import { regimeOf } from './summary/regime.ts';
import { unknownQuality, withoutQuality } from './unknown-quality.ts';

/** What the `config` column of a run holds: all that its turns depend on. */
export interface StoredConfig {
  readonly arms: readonly ArmTraits[];
  readonly margin: number;
  /** Arms of the suite that the model could not run. */
  readonly armsNotRun?: readonly ArmNotRun[];
  /** The suites that were asked for together; the run is one of them. */
  readonly suite: readonly (SuiteName | 'all')[];
  readonly [option: string]: unknown;
}

/**
 * Computes the results of a run from its stored turns, or of all runs `NAME/SUITE` that were made together under a name; of
 * the latest without a name.
 * @throws BenchError `not-found` where there is no such run, or one was ended before its last turn
 */
export function resultsOfRuns(database: BenchDatabase, name?: string): RunResults[] {
  const runs = new RunRepository(database);
  const names = runs.names();
  const found = runs.listGroup(name ?? groupOf(names.at(-1) ?? ''));
  if (found.length === 0) {
    const groups = [...new Set(names.map(groupOf))];
    throw new BenchError(
      'not-found',
      name === undefined
        ? `${database.path} holds no run`
        : `${database.path} holds no run "${name}"${didYouMean(name, [...groups, ...names])}`,
      lastRunsHint(groups),
    );
  }
  return found.map((run) => {
    if (run.status !== 'running' && run.status !== 'interrupted') return summarise(database, run);
    throw new BenchError(
      'not-found',
      `run "${run.name}" is not finished: it has no results yet`,
      `go on with it: npm run bench -- --resume ${groupOf(run.name)}`,
    );
  });
}

/** The results of a run whose turns are all there. */
export function summarise(database: BenchDatabase, run: RunRow): RunResults {
  const { arms, margin } = run.config as StoredConfig;
  const probes = run.probes as RunProbes;
  const { answered, failed } = readStoredTurns(database, run.id);
  const names = arms.map((arm) => arm.name);
  const regime = regimeOf(answered, names);
  const description = describe(run, probes);
  const judged = description.unknownQuality === null;
  const shown = judged ? answered : answered.map(withoutQuality);
  return {
    run: {
      ...description,
      notes: [...probes.notes, ...retrievalNotes(answered, probes.retriever ?? {}), ...promptNotes(answered, names)],
    },
    arms: arms.map((arm) =>
      armResults(
        arm,
        shown.filter((turn) => turn.arm === arm.name),
        failed.filter((turn) => turn.arm === arm.name).length,
        { regime, seed: run.seed, judged },
      ),
    ),
    conditions: conditionResults(shown, failed, names, run.seed),
    breakEven: breakEvens(answered, arms, run.seed),
    measured: measuredOf(probes, judged),
    comparisons: compareWithRag(shown, names, regime, { seed: run.seed, margin }),
    ...judge({ arms, answered, failed, probes, seed: run.seed, randomWeights: !judged }),
  };
}

/** What the suite measured, and the leak matrices of the isolation probe where its answers say anything. */
function measuredOf({ measured, isolation }: RunProbes, judged: boolean): Measured | null {
  return isolation === null || !judged ? measured : { ...measured, leaks: leakMatrices(isolation) };
}

const PATHS = ['dataset', 'kvStore', 'preRetrieval'];

/** The name of a file, or of each of several; what is none stays. */
function withoutFolders(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFolders);
  return typeof value === 'string' ? basename(value) : value;
}

/** The options without the folders of the machine: a report may be sent to others. */
function shownSettings(config: StoredConfig): RunDescription['settings'] {
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key, PATHS.includes(key) ? withoutFolders(value) : value]),
  );
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
    retriever: { ...(run.retriever as RunDescription['retriever']), stats: probes.retriever ?? {} },
    unknownQuality: unknownQuality(model),
    environment: run.environment as RunDescription['environment'],
    settings: shownSettings(run.config as StoredConfig),
    profile: probes.profile,
    tokenisation: probes.tokenisation,
    kvStores: probes.kvStores,
  };
}
