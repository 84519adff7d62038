import { join } from 'node:path';
import type { BenchConfig } from '../../config/bench-config.ts';
import { BenchError } from '../../config/bench-error.ts';
import { controlCharacters } from '../../config/control-characters.ts';
import { type AskedData, readAskedData } from '../../data/asked-data.ts';
import type { DatasetGenerator } from '../../data/generators/dataset-generator.ts';
import { writeText } from '../../data/write-lines.ts';
import { openDatabase, type BenchDatabase } from '../../db/database.ts';
import { RunRepository } from '../../db/run-repository.ts';
import {
  gatingCalibrationOf,
  requireCalibrationFor,
  type GatingCalibration,
} from '../../embedding/gating-threshold.ts';
import type { Engine } from '../../engine/engine.ts';
import type { ComposeEngine } from '../../engine/engine-request.ts';
import type { RunResults } from '../../records/results.ts';
import type { RunRecord } from '../../records/run-record.ts';
import { armRegistry } from '../../systems/arms/arm-registry.ts';
import { DatabaseConversationLog } from '../../systems/conversation-log.ts';
import { MemoryKeeper } from '../../systems/memory-keeper.ts';
import { PAPER_RELEVANCE_THRESHOLD } from '../../systems/prefill/dual-factor-gate.ts';
import { reserveFor } from '../../systems/prompt/build-prompt.ts';
import { armsOfSuite, armsWithForms, requireMeasurable, runnableArms } from './arm-obstacles.ts';
import { registeredMetrics } from '../analysis/metrics/registered-metrics.ts';
import { storesTexts } from '../analysis/texts/withheld-texts.ts';
import { metricsOfRun, requirePrimary, successMetric } from '../analysis/metrics/run-metrics.ts';
import { openJudge } from '../judge/judge.ts';
import { plantedVerdicts } from '../judge/planted-verdicts.ts';
import { BenchParts, embeddingsOf, openRunRetriever, promptRules } from './bench-parts.ts';
import { dataNotes } from './describe-data.ts';
import { donorsFor } from './donors.ts';
import { drawnDatasets, drawUsers } from './draw-users.ts';
import { withFetchedModels } from './fetch-models.ts';
import { requireFittingQueries } from './fitting-queries.ts';
import { requireFittingSinks } from './fitting-sinks.ts';
import { KvFolder } from './kv-folder.ts';
import { TokenPieces } from './observe/token-pieces.ts';
import { openArms } from './open-arms.ts';
import { ownMetrics } from './own-metrics.ts';
import type { BenchHooks } from './progress.ts';
import { RunClock } from './run-clock.ts';
import { RunLock } from './run-lock.ts';
import { checkSame, createRun, resumedConfig } from './run-record.ts';
import { RunSession } from './run-session.ts';
import type { Suite } from './suite.ts';
import { suiteOptions } from './suite-options.ts';
import { UserQueue } from './user-queue.ts';
import { usersOfPlan } from './users-of-plan.ts';

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
): Promise<RunResults> {
  const started = performance.now();
  hooks.onProgress?.({ phase: 'load', suite: suite.name, done: 0, total: 1 });
  const options = begun === undefined ? suiteOptions(config, suite) : resumedConfig(config, begun);
  // A resumed run computes where it began.
  const engines = compose(options);
  const settings = await withFetchedModels(options, engines, { onProgress: hooks.onDownload, signal: hooks.signal });
  const calibration = gatingCalibrationOf(settings.embedder);
  const inspection = await engines.inspect(settings.model);
  const ofSuite = armsOfSuite(suite, inspection, settings);
  const named = begun?.plan.arms.map((arm) => arm.name) ?? settings.arms;
  const wanted = armRegistry.with(...(hooks.arms ?? [])).named(named ?? ofSuite.names, {
    alpha: settings.alpha,
    gatingThreshold: calibration?.gatingThreshold ?? PAPER_RELEVANCE_THRESHOLD,
  });
  requireMeasurable(settings.model, inspection, suite);
  const runnable = runnableArms(settings.model, inspection, wanted, settings, named === undefined);
  const folder = join(settings.out, name);
  // Data that are given are read before the heavy parts are opened: a mistake in them is found at once.
  const given = suite.data === undefined ? await readAskedData(settings) : undefined;
  using stores = new KvFolder(settings, folder);
  await using parts = await BenchParts.open(engines, settings, suite, runnable.arms, stores.checkpointFolder, hooks);
  const { engine } = parts;
  const { arms, notRun } = await armsWithForms(runnable.arms, engine, settings, named === undefined);
  const reserveTokens = reserveFor(engine.info.contextTokens, settings.reserve);
  const dataset = given ?? (await madeData(suite.data!, folder, settings, engine));
  requirePrimaries(suite, dataset);
  const users = drawUsers(dataset, settings);
  const asking = { engine, rules: promptRules(settings) };
  await requireFittingQueries(users, dataset, arms, asking);
  await requireFittingSinks(users, arms, asking);
  if (begun !== undefined) await checkSame(begun, settings, dataset, parts);
  const gated = arms.some((arm) => arm.gated);
  if (gated && calibration !== undefined) requireCalibrationFor(calibration, await parts.embeddings.info());
  const coldStartMs = performance.now() - started;

  // Only now is anything written: a mistake above leaves no trace.
  using database = openRuns(settings);
  const runs = new RunRepository(database);
  const judge = openJudge(settings, database);
  const planted = judge === undefined ? undefined : await plantedVerdicts(judge, hooks.signal);
  const armsNotRun = named === undefined ? [...ofSuite.notRun, ...runnable.notRun, ...notRun] : [];
  const run =
    begun ?? (await createRun(runs, { name, suite, config: settings, arms, armsNotRun, dataset, users, parts }));
  using _lock = new RunLock(folder, run.name);
  let isFinished = false;
  using _end = {
    [Symbol.dispose]: () => {
      if (!isFinished) noteEnd(runs, run.id, hooks.signal?.aborted === true ? 'interrupted' : 'failed');
    },
  };
  // At once: whoever interrupts may not wait for what is under way.
  using _interruption = onAbort(hooks.signal, () => runs.update(run.id, { status: 'interrupted' }));
  hooks.onBegin?.(run.name);
  const retriever = await openRunRetriever(parts, settings, run.id, folder);
  await using _retriever = { [Symbol.asyncDispose]: () => retriever.close() };
  const kept = { storesTexts: storesTexts(run) };
  const keeper = new MemoryKeeper(retriever, parts.embeddings, database, run.id, kept);
  const openedArms = await openArms(parts, stores, { config: settings, runId: run.id, arms }, keeper);
  const { seed, repeats, topK, threshold } = settings;
  const traits = arms.map((arm) => arm.traits);
  const planned = usersOfPlan(users, traits, repeats);
  const bench = {
    ...{ runId: run.id, suite, users, planned, engine, database, keeper, sharesStore: stores.shared },
    queue: new UserQueue(database, run.id, planned),
    donors: await donorsFor(users),
    embeddings: parts.embeddings,
    clock: new RunClock(engine, parts.embeddings),
    scoring: await engine.openSession(`${run.id}/probe`),
    ...{ scoresAnswers: suite.scoresAnswers ?? false, reserveTokens },
    log: new DatabaseConversationLog(database, run.id, kept),
    ...kept,
    pieces: new TokenPieces(engine, database),
    arms: openedArms,
    metrics: ownMetrics(settings),
    ...(judge === undefined ? {} : { judge }),
    success: successMetric(metricsOfRun({ dataset: run.dataset, metrics: run.plan.metrics ?? [] })).name,
    settings: { seed, repeats, topK, threshold },
  };
  hooks.signal?.throwIfAborted();
  const notes = [
    ...dataNotes(dataset),
    ...runNotes(parts, stores, run),
    ...(gated ? [gatingNote(calibration)] : []),
    ...(kept.storesTexts ? [] : [NO_TEXTS]),
    ...(settings.alpha === 1 ? [] : [`values of injected memories multiplied by ${settings.alpha} (--alpha)`]),
  ];
  const session = new RunSession(database, run, bench, {
    ...{ notes, coldStartMs, started, folder, engines },
    ...(planted === undefined ? {} : { planted }),
    datasets: drawnDatasets(dataset, users),
    modelLoadMs: parts.modelLoadMs,
    openRetriever: (strategy, { embedder, ...others } = {}) => {
      const embeddings = embedder === undefined ? parts.embeddings : embeddingsOf(embedder);
      // Each pays for its own vectors, whoever was asked before.
      embeddings.clear();
      const options = { ...settings, retriever: strategy, ...others };
      return openRunRetriever({ ...parts, embeddings }, options, `${run.id}/${strategy}`, join(folder, strategy));
    },
  });
  try {
    const results = await session.finish(settings, hooks);
    isFinished = true;
    return results;
  } finally {
    for (const { system } of openedArms) await system[Symbol.asyncDispose]();
  }
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

/** Opens the database of the runs. */
export function openRuns({ db, databaseEcho }: BenchConfig): BenchDatabase {
  // It holds texts of users, on lines of its own.
  const line = (sql: string): string => `${sql.replaceAll(controlCharacters, ' ')}\n`;
  const echo = databaseEcho ? { echo: (sql: string) => void process.stderr.write(line(sql)) } : {};
  return openDatabase({ path: db, ...echo });
}

/** @throws BenchError `bad-data` where the suite, or a data set, names a metric that there is not */
function requirePrimaries({ name, primaryMetric }: Suite, { parts }: AskedData): void {
  const named = [
    { place: `suite ${name}`, primaryMetric },
    ...parts.map((part) => ({ place: part.name, primaryMetric: part.declared.primaryMetric })),
  ];
  for (const one of named) {
    if (one.primaryMetric !== undefined) requirePrimary(one.primaryMetric, registeredMetrics(), one.place);
  }
}

/** The data of a suite that makes its own, written beside its report. */
async function madeData(
  data: readonly DatasetGenerator[],
  folder: string,
  { seed }: BenchConfig,
  engine: Engine,
): Promise<AskedData> {
  const window = {
    contextTokens: engine.info.contextTokens,
    countTokens: async (texts: readonly string[]): Promise<readonly number[]> =>
      (await engine.tokenize(texts.map((text) => ({ text, as: 'text' })))).map((ids) => ids.length),
  };
  const files: string[] = [];
  for (const { name, presetUsers, make } of data) {
    const file = join(folder, `${name}.jsonl`);
    await writeText(file, await make(seed, presetUsers, window));
    files.push(file);
  }
  return readAskedData({ dataset: files });
}

const NO_TEXTS =
  'no text was stored (--no-text): the viewer shows hashes, attribution cannot replay a turn, and the check ' +
  'negative controls cannot compute chance';

function gatingNote(calibration: GatingCalibration | undefined): string {
  return calibration === undefined
    ? `dki-gated injects above a relevance of ${PAPER_RELEVANCE_THRESHOLD}, the paper's: the embedder has no card`
    : `dki-gated injects above a relevance of ${calibration.gatingThreshold}, of the embedder's card`;
}

/** Notes that a reader of the run must see. */
function runNotes(parts: BenchParts, stores: KvFolder, { environment: { gitDirty } }: RunRecord): string[] {
  return [
    // Two ways to one FAISS: only where it is another library there is something to say.
    ...(parts.backend.backend.name.startsWith('faiss')
      ? []
      : parts.backend.passedOver.map(({ name, reason }) => `vector backend ${name} passed over: ${reason}`)),
    ...(gitDirty === true ? ['the work tree had changes that are not in the commit'] : []),
    ...(stores.shared
      ? [
          'K/V store shared by users and runs (--kv-store): hit rates are not those of a fresh user, ' +
            'and rag-cached, which keeps its list of prompts in memory, starts empty in each process',
        ]
      : []),
  ];
}
