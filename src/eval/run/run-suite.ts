/**
 * Runs one suite from options to results. `open-run-resources.ts` opens what a process needs to take turns.
 * - `plan/` checks options, arms and data before the first turn, and writes the record of the run.
 * - `workers/` divides a run among processes; `turns/` takes the turns of one user.
 * - `observe/` times, scores and stores each turn.
 * - `prove/` tests the model before the first turn, computes injected cells again, and probes isolation.
 * - `queue/` shares a run through PostgreSQL. `merge-run-parts.ts` merges shards, and results of a queue.
 * - `measure/` holds what suites measure beside turns. `judge/` and `attribution/` run after the turns.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import type { BenchConfig } from '../../config/bench-config.ts';
import type { SelectEngine } from '../../engine/engine-adapter.ts';
import type { BenchDatabase } from '../../store/database.ts';
import { sumAudits } from '../../store/records/prompt-token-audit.ts';
import type { RunProbes } from '../../store/records/run-probes.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { RunRepository } from '../../store/run-repository.ts';
import { UserClaimRepository } from '../../store/user-claim-repository.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import { selfTestText } from '../analysis/checks/numerical-parity.ts';
import { resultsOf } from '../analysis/results-from-stored-turns.ts';
import { openEmbeddings } from './loaded-models.ts';
import { openRunRetriever } from './open-run-retriever.ts';
import { resolveModelOptions } from './plan/resolve-model-options.ts';
import { openJudge, testJudge, withJudgeSelfTest } from './judge/judge.ts';
import { judgeTurns } from './judge/judge-turns.ts';
import { openRunDatabase, openRunResources, type RunBench } from './open-run-resources.ts';
import { drawnDatasets, type PlanUser, requireDivisible } from './plan/plan-users.ts';
import { prepareSuite, type PreparedSuite } from './plan/prepare-suite.ts';
import type { BenchHooks } from './bench-hooks.ts';
import { cheapestItem, estimateRun } from './plan/run-estimate.ts';
import { machineLoad, type RunLevelResults, runLevelResults } from './run-level-results.ts';
import { requireServers } from '../../retrieval/tiered/open-tiered-retriever.ts';
import { requireUnlocked, RunLock } from './run-lock.ts';
import { contrastNotes, exactCutNotes, notesBeforeTurns, storedSelfTestNotes } from './plan/notes-before-turns.ts';
import { newRunRecord } from './plan/new-run-record.ts';
import { resumedConfig, unusedOptionsNote } from './plan/resume-run.ts';
import { recheckUsers } from './prove/recheck-turns-from-data.ts';
import { runSelfTests } from './prove/run-self-tests.ts';
import { type SelfTestStore, selfTestStore } from './prove/self-test-store.ts';
import { type MeasureContext, type ServeContext, type Suite, suiteOptions } from './suite.ts';
import { UserTurns } from './turns/take-user-turns.ts';
import { rowClaims } from './workers/claims.ts';
import { probeOpenArms, runClaimedWork } from './workers/run-claimed-work.ts';
import { type StartWorker, Workers } from './workers/workers.ts';
import { withWorkers } from './workers/number-of-workers.ts';

export interface SuiteRun {
  readonly suite: Suite;
  readonly name: string;
  readonly begun: RunRecord | undefined;
  readonly config: BenchConfig;
}

/** Runs or resumes one suite. @throws BenchError on bad options, data or models; the reason of `signal` */
export async function runSuite(
  { suite, name, begun, config }: SuiteRun,
  selectEngine: SelectEngine,
  hooks: BenchHooks & { readonly startWorker?: StartWorker | undefined } = {},
): Promise<RunResults> {
  const started = performance.now();
  const folder = join(config.out, name);
  requireUnlocked(folder, name);
  const { startWorker } = hooks;
  const signal = hooks.signal ?? new AbortController().signal;
  hooks.onProgress?.({ phase: 'load', suite: suite.name, done: 0, total: 1 });
  const chosen = begun === undefined ? suiteOptions(config, suite) : resumedOptions(config, begun, hooks);
  const options = withWorkers(chosen, suite, { ...hooks, canStart: startWorker !== undefined });
  if (options.shard !== undefined) requireDivisible(options, suite, `--shard ${options.shard}`);
  const engines = selectEngine(options);
  const fetched = await resolveModelOptions(options, engines, { onProgress: hooks.onDownload, signal: hooks.signal });
  await using prepared = await prepareSuite({ suite, begun, folder, engines, settings: fetched }, hooks);
  const { parts, settings } = prepared;
  const coldStartMs = performance.now() - started;

  await requireServers(settings);
  // Nothing has been written so far, so that a mistake above leaves no trace.
  using database = openRunDatabase(settings);
  const runs = new RunRepository(database);
  const judge = openJudge(settings, database);
  const hasPoints = prepared.users.some(({ items }) => items.some(({ nuggets }) => nuggets !== undefined));
  const planted = judge === undefined ? undefined : await testJudge(judge, hooks.signal, hasPoints);
  const run = begun ?? runs.create(await newRunRecord(prepared, { name, listsUsers: settings.shard !== undefined }));
  using _lock = new RunLock(folder, run.name);
  using end = runEnd(runs, run.id, signal);
  // Gives back the users of workers that were killed. The lock guarantees that no other process is making the run.
  new UserClaimRepository(database, run.id).release();
  hooks.onBegin?.(run.name);
  const task = { config: settings, suite: suite.name, folder };
  await using workers = new Workers(database, run, { ...task, startWorker, hooks });
  await using open = await openRunResources(prepared, database, run, judge);
  hooks.signal?.throwIfAborted();
  const worker = randomUUID();
  const claims = rowClaims(database, run.id, open.claimed, { worker, signal, wait: () => workers.changed(signal) });
  const bench: RunBench = { ...open.bench, claims };
  const { modelLoadMs } = parts;
  const findings = runLevelResults(database, run, bench.clock, { coldStartMs, modelLoadMs, started });
  const selfTests = selfTestStore(settings, { isOwnEngine: startWorker !== undefined });
  const context: RunContext = { database, run, bench, findings, workers, selfTests, hooks, signal };
  runs.update(run.id, { status: 'running' });
  contrastNotes(run).forEach((note) => hooks.onNote?.(note));
  // First, since it tells how long the run will take.
  await warmUpRun(context);
  if (findings.probes === null) await storeSelfTests(context, prepared, planted);
  await takeTurns(context);
  await takeMeasures(context, prepared);
  hooks.onProgress?.({ phase: 'analysis', done: 0, total: 1 });
  await findings.save(await engineAudit(context));
  const finished = { status: 'finished', finishedAt: Date.now() } as const;
  const results = resultsOf(database, { ...run, ...finished, probes: findings.probes! });
  runs.update(run.id, { ...finished, results });
  end.isFinished = true;
  return results;
}

/** The options of a resumed run, with a note on those of the command that it does not take. */
function resumedOptions(config: BenchConfig, begun: RunRecord, { onNote }: BenchHooks): BenchConfig {
  const resumed = resumedConfig(config, begun);
  const unused = unusedOptionsNote(config, resumed);
  if (unused !== null) onNote?.(unused);
  return resumed;
}

interface RunContext {
  readonly database: BenchDatabase;
  readonly run: RunRecord;
  readonly bench: RunBench;
  readonly findings: RunLevelResults;
  readonly workers: Workers;
  readonly selfTests: SelfTestStore | undefined;
  readonly hooks: BenchHooks;
  readonly signal: AbortSignal;
}

/** Runs the self-tests of a new run and stores what they found. @param planted the judge's verdicts on known answers */
async function storeSelfTests(
  { bench, findings, hooks, run, selfTests, signal }: RunContext,
  prepared: PreparedSuite,
  planted: Awaited<ReturnType<typeof testJudge>> | undefined,
): Promise<void> {
  const onStep = (done: number, total: number): void => hooks.onProgress?.({ phase: 'self-test', done, total });
  onStep(0, 1);
  const { tests, testedAt } = await bench.clock.time('checks', () =>
    runSelfTests(bench, prepared.settings, { signal, store: selfTests, onStep }),
  );
  const metrics = planted === undefined ? tests.metrics : withJudgeSelfTest(tests.metrics, planted);
  const cuts = exactCutNotes(bench.engine);
  const stored = storedSelfTestNotes(testedAt);
  for (const note of [...cuts, ...stored, selfTestText(tests.parity)]) hooks.onNote?.(note);
  await findings.begin({
    ...tests,
    metrics,
    notes: [...(hooks.notes ?? []), ...cuts, ...stored, ...notesBeforeTurns(prepared, run)],
  });
}

/** Takes turns until all users are finished, by this process or by its workers. */
async function takeTurns(context: RunContext): Promise<void> {
  const { bench, findings, workers, hooks } = context;
  const total = countTurns(bench.planned);
  let [finished, underWay] = [total - countTurns(unfinishedUsers(context)), 0];
  const onTurn = (): void => hooks.onProgress?.({ phase: 'turns', done: finished + underWay + workers.turns, total });
  const save = async (): Promise<void> =>
    findings.save({ load: machineLoad(findings.probes?.load), ...(await engineAudit(context)) });
  workers.begin(onTurn);
  await runClaimedWork(bench, () => Promise.resolve(findings.probes!.cells), {
    onTurn: (turns) => {
      underWay = turns;
      onTurn();
    },
    onUser: async () => {
      finished += underWay;
      underWay = 0;
      await save();
    },
    warmsUp: false,
  });
  if (workers.size === 1) return;
  await save();
  await findings.save({ notes: [...findings.probes!.notes, ...workers.notes] });
}

function unfinishedUsers({ database, run, bench }: RunContext): PlanUser[] {
  const users = new UserClaimRepository(database, run.id);
  return bench.planned.filter((user) => !users.isFinished(user));
}

/** Warms up, and tells how long the rest of the run will take. */
async function warmUpRun(context: RunContext): Promise<void> {
  const { bench, hooks, workers, signal } = context;
  const { planned, settings, engine, clock, controls, users } = bench;
  const left = unfinishedUsers(context);
  const unfinished = left.map(({ user }) => user);
  const cheapest = cheapestItem(unfinished);
  if (cheapest === undefined) return;
  const onArm = (done: number): void => hooks.onProgress?.({ phase: 'warm-up', done, total: bench.arms.length });
  onArm(0);
  const userTurns = new UserTurns(bench, left[cheapest.user]!);
  const warm = await clock.time('warmUp', () => userTurns.warmUp(cheapest.item, signal, onArm));
  const { topK, repeats } = settings;
  const { contextTokens } = engine.info;
  const resumed = left.length < planned.length;
  const runQuestions = users.reduce((sum, { items }) => sum + items.length, 0);
  const run = { topK, repeats, resumed, contextTokens, controls, runQuestions, workers: workers.size };
  hooks.onEstimate?.(estimateRun(unfinished, warm, run));
}

function countTurns(users: readonly PlanUser[]): number {
  return users.reduce((sum, { turns }) => sum + turns, 0);
}

async function takeMeasures(context: RunContext, prepared: PreparedSuite): Promise<void> {
  const { database, run, bench, findings, hooks, signal } = context;
  const { suite, judge, clock } = bench;
  const onProbe = (done: number, total: number): void => hooks.onProgress?.({ phase: 'isolation', done, total });
  onProbe(0, 1);
  const isolation = await clock.time('checks', () => probeOpenArms(bench, signal, onProbe));
  if (isolation !== null) await findings.save({ isolation });
  const onReread = (done: number, total: number): void => hooks.onProgress?.({ phase: 'checks', done, total });
  onReread(0, bench.planned.length);
  await findings.save({ reread: await clock.time('checks', () => recheckUsers(bench, bench.planned, onReread)) });
  if (suite.measure !== undefined) {
    const { measure } = suite;
    const { engines, folder, settings, dataset, users } = prepared;
    const onStep = (done: number, total: number): void => hooks.onProgress?.({ phase: 'measure', done, total });
    onStep(0, 1);
    const measuring: ServeContext = {
      config: settings,
      datasets: drawnDatasets(dataset, users),
      signal,
      folder,
      engines,
      openRetriever: retrieverOpener(prepared, run),
      onStep,
      measured: findings.probes!.measured,
      save: (soFar) => findings.save({ measured: soFar }),
      runId: run.id,
      keeper: bench.keeper,
      arms: prepared.arms,
    };
    await findings.save({ measured: await clock.time('measure', () => measure(measuring)) });
  }
  if (judge === undefined) return;
  const turns = new TurnRepository(database);
  const onJudged = (done: number, total: number) => hooks.onProgress?.({ phase: 'judge', done, total });
  const judged = await clock.time('judge', () => judgeTurns(judge, turns, run.id, { signal, onJudged }));
  await findings.save({ judge: judged });
}

function retrieverOpener({ parts, settings, folder }: PreparedSuite, run: RunRecord): MeasureContext['openRetriever'] {
  return (strategy, { embedder, ...others } = {}) => {
    const embeddings = embedder === undefined ? parts.embeddings : openEmbeddings(embedder);
    // Each strategy is timed without vectors that an earlier one has cached.
    embeddings.clear();
    const options = { ...settings, retriever: strategy, ...others };
    const own = { ...parts, embeddings, ownRetriever: undefined };
    return openRunRetriever(own, options, `${run.id}/${strategy}`, join(folder, strategy));
  };
}

async function engineAudit({ bench, run, signal }: RunContext): Promise<Pick<RunProbes, 'audit'>> {
  const own = await bench.engine.audit({ signal });
  if (own === null) return {};
  const before = run.probes?.audit;
  return { audit: before === undefined ? own : sumAudits(before, own) };
}

/** Marks an unfinished run as interrupted or failed. Interrupts are stored at once: the caller may exit early. */
function runEnd(runs: RunRepository, id: string, signal: AbortSignal) {
  const interrupt = (): void => {
    if (!end.isFinished) runs.update(id, { status: 'interrupted' });
  };
  signal.addEventListener('abort', interrupt);
  const end = {
    isFinished: false,
    [Symbol.dispose]: (): void => {
      signal.removeEventListener('abort', interrupt);
      if (end.isFinished) return;
      try {
        runs.update(id, { status: signal.aborted ? 'interrupted' : 'failed' });
      } catch (error) {
        // The run may have ended because the database cannot be written.
        if (!(error instanceof BenchError)) throw error;
      }
    },
  };
  return end;
}
