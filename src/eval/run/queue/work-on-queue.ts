import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { BenchConfig } from '../../../config/bench-config.ts';
import { BenchError } from '../../../base/bench-error.ts';
import { openDatabase } from '../../../store/database.ts';
import type { PlannedRun } from '../../../store/queue/queue-reader.ts';
import type { Claim, QueueStore } from '../../../store/queue/queue-store.ts';
import { RunRepository } from '../../../store/run-repository.ts';
import type { ComposeEngine } from '../../../engine/engine-request.ts';
import type { QueueWorker } from '../../../store/records/queued-plan.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import { promptRules } from '../bench-parts.ts';
import { withFetchedModels } from '../fetch-models.ts';
import { openBench } from '../open-bench.ts';
import { selfTestBudgetMs } from '../parity-self-test.ts';
import { prepareSuite } from '../prepared-suite.ts';
import { placeOfRun } from '../process-place.ts';
import type { BenchHooks } from '../progress.ts';
import { withBooks } from '../run-clock.ts';
import { notesOfRun } from '../run-notes.ts';
import { environmentOf } from '../run-record.ts';
import { selfTests } from '../self-tests.ts';
import type { Suite } from '../suite.ts';
import type { RunBench } from '../user-run.ts';
import { packed } from './bundles.ts';
import { Heartbeat } from './heartbeat.ts';
import { ISOLATION } from './plan-run.ts';
import { settingsOfWorker } from './queue-settings.ts';
import { requireSameBuild, requireSameUsers } from './same-version.ts';
import { UnitRunner } from './unit-runner.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;
/** Failures in a row that no error of the user's explains: the engine itself may be what is wrong. */
const FAILURES_AT_MOST = 2;

/** A queue, and the run of it that a worker takes part in, planned by this version of the program. */
export interface QueueWork {
  readonly store: QueueStore;
  readonly planned: PlannedRun;
  readonly suite: Suite;
  /** The worker's own options. */
  readonly config: BenchConfig;
  /** For K/V and data that the suite makes; the worker's alone. */
  readonly folder: string;
}

/** Listeners to a worker, and the signal that ends it. */
export interface QueueWorkHooks extends Pick<BenchHooks, 'onProgress' | 'onNote' | 'onDownload'> {
  readonly signal: AbortSignal;
}

/** The results that a worker has stored. */
export interface WorkDone {
  readonly users: number;
  readonly turns: number;
}

/**
 * Takes units of a planned run until all are stored, or were put aside: loads model and data, which must be those of the plan,
 * tests itself, and stores the results of each unit.
 * @throws BenchError where version, model, data or settings are not those of the plan, where its disk or its engine fails, and
 * where the queue is away for long; the reason of the signal, after its unit was given back
 */
export async function workOnQueue(
  { store, planned, suite, config, folder }: QueueWork,
  compose: ComposeEngine,
  { signal, ...hooks }: QueueWorkHooks,
): Promise<WorkDone> {
  const started = performance.now();
  const { plan } = planned;
  hooks.onProgress?.({ phase: 'load', suite: suite.name, done: 0, total: 1 });
  const begun: RunRecord = { ...plan, id: planned.id, status: 'running', probes: null, startedAt: 0, finishedAt: null };
  const options = settingsOfWorker(config, begun);
  const engines = compose(options);
  const settings = await withFetchedModels(options, engines, { onProgress: hooks.onDownload, signal });
  const place = placeOfRun(folder);
  await using prepared = await prepareSuite(
    { suite, begun, folder, place, engines, settings, isMade: false },
    { signal },
  );
  const environment = environmentOf(prepared.parts);
  requireSameBuild(plan, environment);
  using database = openDatabase({ path: ':memory:' });
  const { schemaVersion: _, ...record } = plan;
  const run = new RunRepository(database).create({ ...record, environment });
  await using open = await openBench(prepared, database, run, { worker: randomUUID(), judge: undefined });
  const { bench } = open;
  requireSameUsers(plan, bench.planned);
  const { modelLoadMs } = prepared.parts;
  const coldStartMs = performance.now() - started;
  hooks.onProgress?.({ phase: 'self-test', done: 0, total: 1 });
  const tests = await testedBench(bench, settings, signal);
  const profile = { modelMs: modelLoadMs, embedderMs: 0, coldStartMs, wallMs: performance.now() - started };
  const probes: QueueWorker['probes'] = {
    ...tests,
    ...{ notes: notesOfRun(prepared, run), kvStores: {}, isolation: null, measured: null },
    profile: withBooks(profile, await bench.clock.take()),
  };
  const worker = await store.enter(planned.id, { environment, probes });
  const runner = new UnitRunner({ bench, database, config: settings, cells: probes.cells });
  return await takeUnits({ store, planned, worker, runner }, { signal, ...hooks });
}

/** Tests itself as every process does that makes a run. */
async function testedBench(bench: RunBench, settings: BenchConfig, signal: AbortSignal): ReturnType<typeof selfTests> {
  const turns = bench.planned.reduce((sum, user) => sum + user.turns, 0);
  return await bench.clock.time('checks', () =>
    selfTests(
      bench,
      bench.users,
      { ...settings, rules: promptRules(settings) },
      { budgetOf: (wholeMs) => selfTestBudgetMs(wholeMs, turns), signal },
    ),
  );
}

/** A worker that may take units. */
interface EnteredWork extends Pick<QueueWork, 'store' | 'planned'> {
  readonly worker: string;
  readonly runner: UnitRunner;
}

async function takeUnits(work: EnteredWork, hooks: QueueWorkHooks): Promise<WorkDone> {
  const { store, planned, worker } = work;
  const { signal } = hooks;
  using heartbeat = new Heartbeat(store, worker);
  let done: WorkDone = { users: 0, turns: 0 };
  let failures = 0;
  let pause = FIRST_PAUSE_MS;
  try {
    for (;;) {
      const claim = await store.claim(planned.id, worker, { reaps: heartbeat.isSteady, signal });
      if (claim === undefined) {
        if ((await store.open(planned.id, signal)) === 0) break;
        await wait(pause * (0.5 + Math.random()), undefined, { signal });
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
        continue;
      }
      pause = FIRST_PAUSE_MS;
      const turns = await takeUnit(claim, work, heartbeat, hooks);
      failures = turns === 'failed' ? failures + 1 : 0;
      if (failures === FAILURES_AT_MOST) throw severalFailures(failures);
      if (typeof turns === 'number')
        done = { users: done.users + Number(claim.position >= 0), turns: done.turns + turns };
    }
    await leave(store, worker, 'done');
    return done;
  } catch (error) {
    await leave(store, worker, signal.aborted ? 'interrupted' : (error as Error).message);
    throw error;
  }
}

/** Does a unit and stores it; gives its turns, or that they are not there. */
async function takeUnit(
  claim: Claim,
  { store, planned, runner }: EnteredWork,
  heartbeat: Heartbeat,
  { signal, ...hooks }: QueueWorkHooks,
): Promise<number | 'lost' | 'failed'> {
  const { position } = claim;
  const name = position === ISOLATION ? 'the isolation probe' : `user ${planned.plan.plan.users[position]!.userId}`;
  const lost = heartbeat.watch(position);
  try {
    const bundle = await packed(await runner.do(position, AbortSignal.any([signal, lost])));
    heartbeat.unwatch();
    if ((await store.store(claim, planned.planId, bundle, signal)) === 'stored') {
      hooks.onNote?.(`${name}: ${bundle.turns} turns stored`);
      return bundle.turns;
    }
    hooks.onNote?.(`${name} is another worker's now: the results are dropped`);
    return 'lost';
  } catch (error) {
    heartbeat.unwatch();
    await runner.drop(position);
    if (signal.aborted) {
      await ignoringAbsence(store.giveBack(claim));
      throw error;
    }
    if (lost.aborted) {
      hooks.onNote?.(`${name} was given to another worker: this one was silent`);
      return 'lost';
    }
    const { message } = error as Error;
    await ignoringAbsence(store.fail(claim, message));
    // Its disk, its engine: the next unit would fare no better.
    if (error instanceof BenchError) throw error;
    hooks.onNote?.(`${name} failed: ${message}`);
    return 'failed';
  }
}

function severalFailures(failures: number): BenchError {
  return new BenchError(
    'bad-state',
    `${failures} users failed one after the other`,
    'see why: dki-bench status --queue …',
  );
}

async function leave(store: QueueStore, worker: string, how: string): Promise<void> {
  await ignoringAbsence(store.leave(worker, how));
}

/** Of a queue that is away: it finds out by itself that the worker is silent. */
async function ignoringAbsence(call: Promise<void>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
  }
}
