import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { BenchConfig } from '../../config/bench-config.ts';
import { BenchError } from '../../base/bench-error.ts';
import { RunRepository } from '../../store/run-repository.ts';
import { RunUserRepository } from '../../store/run-user-repository.ts';
import { TurnIndexRepository } from '../../store/turn-index/turn-index-repository.ts';
import type { ComposeEngine } from '../../engine/engine-request.ts';
import type { RunResults } from '../../store/records/results.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { openJudge } from './judge/judge.ts';
import { plantedVerdicts } from './judge/planted-verdicts.ts';
import { embeddingsOf, openRunRetriever } from './bench-parts.ts';
import { Crew } from './workers/crew.ts';
import type { StartWorker } from './workers/worker-port.ts';
import { withWorkers } from './workers-of-run.ts';
import { drawnDatasets } from './draw-users.ts';
import { withFetchedModels } from './fetch-models.ts';
import { openBench } from './open-bench.ts';
import { openRuns } from './open-runs.ts';
import { prepareSuite } from './prepared-suite.ts';
import { placeOfRun } from './process-place.ts';
import type { BenchHooks } from './progress.ts';
import { RunLock } from './run-lock.ts';
import { notesOfRun } from './run-notes.ts';
import { newRun, resumedConfig } from './run-record.ts';
import { RunSession } from './run-session.ts';
import { requireDivisible } from './shard.ts';
import type { Suite } from './suite.ts';
import { suiteOptions } from './suite-options.ts';

/** One suite under the name of its run. */
export interface SuiteRun {
  readonly suite: Suite;
  readonly name: string;
  /** The run to go on with, where it was begun before. */
  readonly begun: RunRecord | undefined;
}

/**
 * Runs one suite, or goes on with it, and gives its results; every turn is stored as it is made.
 * @throws BenchError on bad options, data or models; the reason of `signal` where it ends the run
 */
export async function runSuite(
  { suite, name, begun }: SuiteRun,
  config: BenchConfig,
  compose: ComposeEngine,
  hooks: BenchHooks = {},
  startWorker?: StartWorker,
): Promise<RunResults> {
  const started = performance.now();
  hooks.onProgress?.({ phase: 'load', suite: suite.name, done: 0, total: 1 });
  const chosen = begun === undefined ? suiteOptions(config, suite) : resumedConfig(config, begun);
  const options = withWorkers(chosen, suite, { ...hooks, canStart: startWorker !== undefined });
  if (options.shard !== undefined) requireDivisible(options, suite, `--shard ${options.shard}`);
  // A resumed run computes where it began.
  const engines = compose(options);
  const fetched = await withFetchedModels(options, engines, { onProgress: hooks.onDownload, signal: hooks.signal });
  const folder = join(fetched.out, name);
  await using prepared = await prepareSuite(
    { suite, begun, folder, place: placeOfRun(folder), engines, settings: fetched, isMade: false },
    hooks,
  );
  const { armsNotRun, arms, dataset, parts, settings, users } = prepared;
  const coldStartMs = performance.now() - started;

  // Only now is anything written: a mistake above leaves no trace.
  using database = openRuns(settings);
  const runs = new RunRepository(database);
  const judge = openJudge(settings, database);
  const planted = judge === undefined ? undefined : await plantedVerdicts(judge, hooks.signal);
  const run =
    begun ??
    runs.create(
      await newRun({
        ...{ name, suite, config: settings, arms, armsNotRun, dataset, users, parts },
        listsUsers: settings.shard !== undefined,
      }),
    );
  using _lock = new RunLock(folder, run.name);
  let isFinished = false;
  using _end = {
    [Symbol.dispose]: () => {
      if (!isFinished) noteEnd(runs, run.id, hooks.signal?.aborted === true ? 'interrupted' : 'failed');
    },
  };
  // At once: whoever interrupts may not wait for what is under way.
  using _interruption = onAbort(hooks.signal, () => isFinished || runs.update(run.id, { status: 'interrupted' }));
  // Of workers that were ended; this process alone makes the run, and its workers claim users from now on.
  new RunUserRepository(database, run.id).release();
  hooks.onBegin?.(run.name);
  await using crew = new Crew(database, run, { config: settings, suite: suite.name, folder, startWorker, hooks });
  await using open = await openBench(prepared, database, run, { worker: randomUUID(), judge });
  hooks.signal?.throwIfAborted();
  const notes = notesOfRun(prepared, run);
  const session = new RunSession(database, run, open.bench, {
    ...{ notes, coldStartMs, started, folder, engines, crew },
    ...(planted === undefined ? {} : { planted }),
    datasets: drawnDatasets(dataset, users),
    modelLoadMs: parts.modelLoadMs,
    openRetriever: (strategy, { embedder, ...others } = {}) => {
      const embeddings = embedder === undefined ? parts.embeddings : embeddingsOf(embedder);
      // Each pays for its own vectors, whoever was asked before.
      embeddings.clear();
      const asked = { ...settings, retriever: strategy, ...others };
      return openRunRetriever({ ...parts, embeddings }, asked, `${run.id}/${strategy}`, join(folder, strategy));
    },
  });
  const results = await session.finish(settings, hooks);
  isFinished = true;
  new TurnIndexRepository(database).make(run.id);
  return results;
}

/** Notes how a run ended, where the database can still be written: what ended it may be that it cannot. */
function noteEnd(runs: RunRepository, id: string, status: 'interrupted' | 'failed'): void {
  try {
    runs.update(id, { status });
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
  }
}

/** Calls `act` when the signal is aborted, until it is disposed of. */
function onAbort(signal: AbortSignal | undefined, act: () => void): Disposable {
  signal?.addEventListener('abort', act);
  return { [Symbol.dispose]: () => signal?.removeEventListener('abort', act) };
}
