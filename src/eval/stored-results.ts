import { basename } from 'node:path';
import type { SuiteName } from '../config/bench-config.ts';
import { BenchError } from '../config/bench-error.ts';
import { didYouMean } from '../config/nearest-name.ts';
import type { BenchDatabase } from '../db/database.ts';
import { RunRepository } from '../db/run-repository.ts';
import type { RunRow } from '../db/schema.ts';
import { TurnRepository } from '../db/turn-repository.ts';
import { judge } from './gates/judge.ts';
import type { Measured, RunDescription, RunResults } from './results.ts';
import type { ArmTraits } from './run/arms.ts';
import type { RunProbes } from './run/run-probes.ts';
import { storedTurn, type AnsweredTurn, type FailedTurn } from './stored-turn.ts';
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
  const all = new RunRepository(database).list();
  const wanted = name ?? groupOf(all.at(-1)?.name ?? '');
  const found = all.filter((run) => run.name === wanted || groupOf(run.name) === wanted);
  if (found.length === 0) {
    const known = [...new Set(all.map((run) => groupOf(run.name)))];
    throw new BenchError(
      'not-found',
      name === undefined
        ? `${database.path} holds no run`
        : `${database.path} holds no run "${name}"${didYouMean(name, [...known, ...all.map((run) => run.name)])}`,
      known.length === 0 ? 'make one: npm run bench' : `the last runs are ${known.slice(-3).join(', ')}`,
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

/** The name under which suites that were asked for together were made. */
export function groupOf(runName: string): string {
  return runName.split('/')[0]!;
}

/** The results of a run whose turns are all there. */
export function summarise(database: BenchDatabase, run: RunRow): RunResults {
  const { arms, margin } = run.config as StoredConfig;
  const probes = run.probes as RunProbes;
  const answered: AnsweredTurn[] = [];
  const failed: FailedTurn[] = [];
  const shared = sharing();
  for (const row of new TurnRepository(database).listForResults(run.id)) {
    const turn = storedTurn(row);
    if (turn.state === 'answered') answered.push(shared(turn));
    else failed.push(turn);
  }
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

/** Lets all turns of an item hold one copy of what they were asked and of how it was recalled, which is the same for all. */
function sharing(): (turn: AnsweredTurn) => AnsweredTurn {
  const items = new Map<string, Pick<AnsweredTurn, 'itemId' | 'userId' | 'item' | 'retrieval'>>();
  return (turn) => {
    const { itemId, userId, item, retrieval } = turn;
    const known = items.get(itemId);
    if (known === undefined || (known.retrieval === null && retrieval !== null)) {
      items.set(itemId, { itemId, userId, item, retrieval });
      return turn;
    }
    return { ...turn, ...known, retrieval: retrieval === null ? null : known.retrieval };
  };
}

const PATHS = ['dataset', 'kvStore', 'preRetrieval'];

/** The options without the folders of the machine: a report may be sent to others. */
function shownSettings(config: StoredConfig): RunDescription['settings'] {
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [
      key,
      PATHS.includes(key) && typeof value === 'string' ? basename(value) : value,
    ]),
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
