import { type BenchConfig, benchConfigSchema, promptTextSchema } from '../../../config/bench-config.ts';
import { type SelectEngine } from '../../../engine/engine-adapter.ts';
import { openDatabase } from '../../../store/database.ts';
import { type PlannedRun } from '../../../store/queue/queue-reader.ts';
import { type QueueWriter } from '../../../store/queue/queue-writer.ts';
import { type QueueWorker } from '../../../store/records/queue-records.ts';
import { type RunRecord } from '../../../store/records/run-record.ts';
import { RunRepository } from '../../../store/run-repository.ts';
import { resolveModelOptions } from '../plan/resolve-model-options.ts';
import { openRunResources } from '../open-run-resources.ts';
import { requireSameBuild, requireSameUsers } from '../plan/compare-plans.ts';
import { prepareSuite } from '../plan/prepare-suite.ts';
import { type BenchHooks } from '../bench-hooks.ts';
import { addBooks } from '../phase-times-and-tokens.ts';
import { notesBeforeTurns, storedSelfTestNotes } from '../plan/notes-before-turns.ts';
import { currentEnvironment } from '../plan/new-run-record.ts';
import { runSelfTests } from '../prove/run-self-tests.ts';
import { selfTestStore } from '../prove/self-test-store.ts';
import { type Suite } from '../suite.ts';
import { runClaimedWork } from '../workers/run-claimed-work.ts';
import { QueueClaims } from './queue-claims.ts';
import { BenchError } from '../../../base/bench-error.ts';
import { fixedOptions } from '../plan/option-resume-rules.ts';
import { resumedConfig } from '../plan/resume-run.ts';

/** A queue and a run in it, planned by this version of the program, that a worker takes part in. */
interface QueueWork {
  readonly writer: QueueWriter;
  readonly planned: PlannedRun;
  readonly suite: Suite;
  readonly config: BenchConfig;
  /** For KV and generated data; no other process uses it. */
  readonly folder: string;
}

/**
 * Takes units of a planned run until none is left, and stores the results of each. @returns the users and turns stored
 * @throws BenchError if anything is not as planned, disk or engine fail, or the queue is away; the reason of `signal`
 */
export async function workOnQueue(
  { writer, planned, suite, config, folder }: QueueWork,
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
  const task = { suite, begun, folder, place: { folder, suffix: '' }, engines, settings, hasGeneratedData: false };
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
const REFUSED_SETTINGS = ['workers', 'shard', 'judge', 'judgeModel', 'kvStore'];

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
    if (value === undefined || (isKnown(key, value) && !REFUSED_SETTINGS.includes(key))) continue;
    const message = `run "${name}": this program does not take the plan's setting ${key}`;
    throw new BenchError('database', message, 'plan it again with the version of the workers');
  }
}
