import { TemporaryFolder } from '../../../base/temporary-folder.ts';
import { type BenchConfig, benchConfigSchema, promptTextSchema } from '../../../config/bench-config.ts';
import type { SelectEngine } from '../../../engine/engine-adapter.ts';
import { openDatabase } from '../../../store/database.ts';
import type { PlannedRun } from '../../../store/queue/queue-reader.ts';
import { type Claim, LEASE_S } from '../../../store/queue/job-queue.ts';
import type { QueueWriter } from '../../../store/queue/queue-writer.ts';
import type { QueueWorker, RunRecord } from '../../../store/records/run-record.ts';
import { RunRepository } from '../../../store/run-repository.ts';
import { resolveModelOptions } from '../plan/resolve-model-options.ts';
import { openRunResources, type RunResources } from '../open-run-resources.ts';
import { requireSameBuild, requireSameUsers } from '../plan/compare-plans.ts';
import { prepareSuite } from '../plan/prepare-suite.ts';
import type { BenchHooks } from '../bench-hooks.ts';
import { addBooks, machineLoad } from '../run-level-results.ts';
import { notesBeforeTurns, storedSelfTestNotes } from '../plan/notes-before-turns.ts';
import { currentEnvironment } from '../plan/new-run-record.ts';
import { runSelfTests } from '../prove/run-self-tests.ts';
import { selfTestStore } from '../prove/self-test-store.ts';
import type { Suite } from '../suite.ts';
import { runClaimedWork } from '../workers/run-claimed-work.ts';
import { BenchError, catchBenchError } from '../../../base/bench-error.ts';
import { fixedOptions } from '../plan/option-resume-rules.ts';
import { resumedConfig } from '../plan/resume-run.ts';
import { setTimeout as wait } from 'node:timers/promises';
import type { RunProbes } from '../../../store/records/run-probes.ts';
import { TokenPieceRepository } from '../../../store/token-piece-repository.ts';
import { TurnRepository } from '../../../store/turn-repository.ts';
import { readUserRows } from '../../../store/transfer-user-rows.ts';
import { recheckUsers } from '../prove/recheck-turns-from-data.ts';
import { sumByName } from '../workers/add-counts.ts';
import type { Claims, Unit, UnitResult } from '../workers/claims.ts';
import { makeBundle, packBundle, promptTokenIds, type WorkerState } from './pack-results.ts';
import { ISOLATION_POSITION, unplannedSettings } from './plan-queued-run.ts';

/** A queue and a run in it, planned by this version of the program, that a worker takes part in. */
interface QueueWork {
  readonly writer: QueueWriter;
  readonly planned: PlannedRun;
  readonly suite: Suite;
  readonly config: BenchConfig;
}

/**
 * Takes units of a planned run until none is left, and stores the results of each. @returns the users and turns stored
 * @throws BenchError if anything is not as planned, disk or engine fail, or the queue is unreachable; the reason of `signal`
 */
export async function workOnQueue(
  { writer, planned, suite, config }: QueueWork,
  selectEngine: SelectEngine,
  hooks: Pick<BenchHooks, 'onProgress' | 'onNote' | 'onDownload'> & { readonly signal: AbortSignal },
): Promise<{ readonly users: number; readonly turns: number }> {
  const { signal, onNote } = hooks;
  const started = performance.now();
  const { plan } = planned;
  hooks.onProgress?.({ phase: 'load', suite: suite.name, done: 0, total: 1 });
  const begun: RunRecord = { ...plan, id: planned.id, status: 'running', probes: null, startedAt: 0, finishedAt: null };
  const options = workerSettings(config, begun);
  const engines = selectEngine(options);
  const settings = await resolveModelOptions(options, engines, { onProgress: hooks.onDownload, signal });
  // For KV and generated data.
  using privateFolder = new TemporaryFolder();
  const task = { suite, begun, folder: privateFolder.path, engines, settings };
  await using prepared = await prepareSuite(task, { signal });
  const environment = currentEnvironment(prepared.parts);
  requireSameBuild(plan, environment);
  using database = openDatabase({ path: ':memory:' });
  const { schemaVersion: _, ...record } = plan;
  const run = new RunRepository(database).create({ ...record, environment });
  await using open = await openRunResources(prepared, database, run);
  const { bench } = open;
  requireSameUsers(plan, bench.planned);
  const coldStartMs = performance.now() - started;
  hooks.onProgress?.({ phase: 'self-test', done: 0, total: 1 });
  const testing = { signal, store: selfTestStore(config, { isOwnEngine: true }) };
  const { tests, testedAt } = await bench.clock.time('checks', () => runSelfTests(bench, settings, testing));
  const wallMs = performance.now() - started;
  const profile = { modelMs: prepared.parts.modelLoadMs, embedderMs: 0, coldStartMs, wallMs };
  const probes: QueueWorker['probes'] = {
    ...tests,
    notes: [...storedSelfTestNotes(testedAt), ...notesBeforeTurns(prepared, run)],
    kvStores: {},
    isolation: null,
    measured: null,
    profile: addBooks(profile, await bench.clock.take()),
  };
  const worker = await writer.enter(planned.id, { environment, probes });
  await using claims = new QueueClaims({ writer, planned, worker, signal, onNote }, bench);
  await runClaimedWork({ ...bench, claims }, () => Promise.resolve(probes.cells), { warmsUp: true });
  return claims.stored;
}

/** Settings that a worker takes from its own options: paths on its machine, and its user's consent. */
const OWN_SETTINGS = ['dataset', 'dataFile', 'errata', 'allowRemote'] as const;

/** A worker's options: the plan's, with the paths of its machine. @throws BenchError `bad-option`, `database` */
function workerSettings(own: BenchConfig, run: RunRecord): BenchConfig {
  requireKnownSettings(run);
  const { threads } = run.environment;
  const { dataFile: _, errata: __, allowRemote: ___, ...settings } = resumedConfig(own, run);
  return {
    ...settings,
    ...Object.fromEntries(OWN_SETTINGS.flatMap((key) => (own[key] === undefined ? [] : [[key, own[key]]]))),
    // A model server chooses its own number of threads.
    ...(threads === 0 ? {} : { threads }),
  };
}

/** Validates the plan's settings: they come from a server that others can write to. */
function requireKnownSettings({ name, plan }: RunRecord): void {
  const isKnown = (key: (typeof fixedOptions)[number], value: unknown): boolean => {
    if (key === 'given') return typeof value === 'string';
    const isText = key === 'systemPrompt' || key === 'generalAnswerPrefix' || key === 'memoryHeader';
    return (isText ? promptTextSchema : benchConfigSchema.shape[key]).safeParse(value).success;
  };
  for (const key of fixedOptions) {
    const value: unknown = (plan.settings as Readonly<Record<string, unknown>>)[key];
    if (value === undefined || (isKnown(key, value) && !unplannedSettings.includes(key))) continue;
    const message = `run "${name}": this program does not take the plan's setting ${key}`;
    throw new BenchError('database', message, 'plan it again with the version of the workers');
  }
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;
const BEAT_MS = 5000;
/** Consecutive unexplained failures that stop a worker: its engine may be faulty. */
const MAX_FAILURES = 2;

interface QueueMember extends Pick<QueueWork, 'writer' | 'planned'> {
  readonly worker: string;
  readonly signal: AbortSignal;
  readonly onNote: BenchHooks['onNote'] | undefined;
}

/** Claims units of a queue in PostgreSQL. A unit's rows stay in the worker's database until the queue has its results. */
class QueueClaims implements Claims, AsyncDisposable {
  readonly stored = { users: 0, turns: 0 };
  readonly #member: QueueMember;
  readonly #bench: RunResources['bench'];
  readonly #timer = setInterval(() => void this.#beat(), BEAT_MS);
  #claim: Claim | undefined;
  #lost = new AbortController();
  /** By `performance.now`: the queue's last answer, and its first answer after the last outage. */
  #heard = performance.now();
  #steadySince = performance.now();
  #load: RunProbes['load'];
  #reread: RunProbes['reread'];
  #failures = 0;
  #ended = 'done';

  constructor(member: QueueMember, bench: RunResources['bench']) {
    this.#member = member;
    this.#bench = bench;
  }

  get signal(): AbortSignal {
    return AbortSignal.any([this.#member.signal, this.#lost.signal]);
  }

  async next(): Promise<Unit | null> {
    const { writer, planned, worker, signal } = this.#member;
    try {
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
        // After an outage of the queue all workers seem silent: wait for a lease before taking over units.
        const reaps = performance.now() - this.#steadySince > LEASE_S * 1000;
        const claim = await writer.claim(planned.id, worker, { reaps, signal });
        if (claim !== undefined) {
          this.#lost = new AbortController();
          this.#claim = claim;
          const { position } = claim;
          return position === ISOLATION_POSITION ? 'isolation probe' : this.#bench.planned[position]!;
        }
        if ((await writer.count(planned.id, signal)).open === 0) return null;
        await wait(pause * (0.5 + Math.random()), undefined, { signal });
      }
    } catch (error) {
      throw this.#end(error);
    }
  }

  put(_: string, write: () => void): void {
    this.#bench.database.transaction(write);
  }

  async done(unit: Unit, { share, isolation }: UnitResult): Promise<void> {
    const { writer, planned, worker, signal, onNote } = this.#member;
    const { database, engine, runId } = this.#bench;
    this.#load = machineLoad(this.#load);
    const audit = await engine.audit({ signal });
    let reread = this.#reread;
    if (unit !== 'isolation probe') {
      const own = await recheckUsers(this.#bench, [unit]);
      reread = reread === undefined ? own : sumByName([reread, own]);
    }
    const counts = reread === undefined ? share.counts : { ...share.counts, reread };
    const state: WorkerState = { share: { ...share, counts }, load: this.#load, ...(audit === null ? {} : { audit }) };
    let bundle;
    if (unit === 'isolation probe') {
      bundle = await packBundle({ isolation: isolation ?? null, ...state });
    } else {
      const rows = readUserRows(database, { runId, userId: unit.userId });
      const { info } = engine;
      const pieces = new TokenPieceRepository(database).find(info.modelSha256 ?? info.model.name, promptTokenIds(rows));
      bundle = await packBundle(makeBundle(unit.userId, rows, pieces, state));
    }
    const claim = this.#claim!;
    this.#claim = undefined;
    const origin = { worker, planId: planned.planId };
    const outcome = await writer.store(claim, origin, bundle, signal).catch((error: unknown) => {
      this.#claim = claim;
      throw error;
    });
    this.#forget(unit);
    this.#failures = 0;
    if (outcome === 'stale') {
      onNote?.(`${unitName(unit)} was given to another worker: the results are dropped`);
      return;
    }
    this.#reread = reread;
    onNote?.(`${unitName(unit)}: ${bundle.turns} turns stored`);
    this.stored.users += unit === 'isolation probe' ? 0 : 1;
    this.stored.turns += bundle.turns;
  }

  async failed(unit: Unit, error: unknown): Promise<void> {
    const { writer, signal, onNote } = this.#member;
    const claim = this.#claim!;
    this.#claim = undefined;
    // Discards time and tokens of the failed unit, whose turns are not stored.
    await this.#bench.clock.take();
    this.#forget(unit);
    if (signal.aborted) {
      await ignoreUnreachable(writer.giveBack(claim));
      throw this.#end(error);
    }
    if (this.#lost.signal.aborted) {
      onNote?.(`${unitName(unit)} was given to another worker: this one was silent`);
      this.#failures = 0;
      return;
    }
    const { message } = error as Error;
    await ignoreUnreachable(writer.fail(claim, message));
    // The worker's disk or engine failed: the next unit would fail too.
    if (error instanceof BenchError) throw this.#end(error);
    onNote?.(`${unitName(unit)} failed: ${message}`);
    if (++this.#failures < MAX_FAILURES) return;
    const failures = `${this.#failures} users failed one after the other`;
    throw this.#end(new BenchError('bad-state', failures, 'see why: dki-bench queue status --queue …'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await ignoreUnreachable(this.#member.writer.leave(this.#member.worker, this.#ended));
  }

  #end(error: unknown): Error {
    this.#ended = this.#member.signal.aborted ? 'interrupted' : (error as Error).message;
    return error as Error;
  }

  #forget(unit: Unit): void {
    const { database, runId } = this.#bench;
    if (unit !== 'isolation probe') new TurnRepository(database).deleteUser(runId, unit.userId);
  }

  async #beat(): Promise<void> {
    // Read before the call, during which another unit may be claimed.
    const [claim, lost] = [this.#claim, this.#lost];
    try {
      const isHeld = await this.#member.writer.beat(this.#member.worker, claim);
      const now = performance.now();
      if (now - this.#heard > (LEASE_S * 1000) / 2) this.#steadySince = now;
      this.#heard = now;
      if (!isHeld && claim === this.#claim) lost.abort();
    } catch {
      // The queue is unreachable. Storing the results will show whether the claim still holds.
    }
  }
}

function unitName(unit: Unit): string {
  return unit === 'isolation probe' ? 'the isolation probe' : `user ${unit.userId}`;
}

/** Ignores that the queue is unreachable: it notices by itself that the worker is silent. */
const ignoreUnreachable = (call: Promise<void>) => catchBenchError(call);
