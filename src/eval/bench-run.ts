import { basename } from 'node:path';
import type { BenchConfig } from '../config/bench-config.ts';
import { BenchError } from '../config/bench-error.ts';
import { openDatabase, type BenchDatabase } from '../db/database.ts';
import { RunRepository } from '../db/run-repository.ts';
import type { RunRow } from '../db/schema.ts';
import { TurnRepository } from '../db/turn-repository.ts';
import type { Dataset, DatasetUser } from './dataset/dataset.ts';
import { readDataset } from './dataset/reader.ts';
import type { RunResults } from './results.ts';
import { armsNamed, MAIN_ARMS, type Arm } from './run/arms.ts';
import { datasetCounts } from './run/dataset-counts.ts';
import { drawUsers } from './run/draw-users.ts';
import { describeEnvironment } from './run/environment.ts';
import { probeIsolation } from './run/isolation-probe.ts';
import { BenchParts, openBench, promptRules, StoreFolder } from './run/open-bench.ts';
import type { RunProbes } from './run/run-probes.ts';
import { selfTests } from './run/self-tests.ts';
import { UserRun, type RunBench } from './run/user-run.ts';
import { summarise, type StoredConfig } from './stored-results.ts';

/** How far a run is; `done` of `total` steps of its phase. */
export interface Progress {
  readonly phase: 'load' | 'self-test' | 'warm-up' | 'turns' | 'isolation' | 'report';
  readonly done: number;
  readonly total: number;
}

export interface BenchHooks {
  readonly onProgress?: (progress: Progress) => void;
  /** Ends the run between two turns; it can be resumed. */
  readonly signal?: AbortSignal;
  /** Arms of one's own, asked for by name in `config.arms`. */
  readonly arms?: readonly Arm[];
}

/** Options that the turns of a run depend on: a run is resumed with those that it began with. */
const DECISIVE = [
  'suite',
  'dataset',
  'topK',
  'threshold',
  'limit',
  'seed',
  'repeats',
  'labels',
  'placement',
  'reserve',
  'contextTokens',
  'margin',
  'kvBytes',
] as const;

/**
 * Runs a suite, or goes on with one that was ended, and gives its results; every turn is stored as it is made.
 * @throws BenchError on bad options, data or models; the reason of `signal` where it ends the run
 */
export async function runBench(config: BenchConfig, hooks: BenchHooks = {}): Promise<RunResults> {
  const started = performance.now();
  const progress = hooks.onProgress ?? (() => undefined);
  progress({ phase: 'load', done: 0, total: 1 });
  const echo = config.databaseEcho ? { echo: (sql: string) => void process.stderr.write(`${sql}\n`) } : {};
  using database = openDatabase({ path: config.db, ...echo });
  const runs = new RunRepository(database);
  const resumed = config.resume === undefined ? undefined : findResumable(runs, config.resume);
  const settings: BenchConfig =
    resumed === undefined ? config : { ...config, ...decisive(resumed.config as BenchConfig) };
  const names =
    resumed === undefined ? (config.arms ?? MAIN_ARMS) : (resumed.config as StoredConfig).arms.map((arm) => arm.name);
  const arms = armsNamed(names, hooks.arms);
  const dataset = await readDataset(settings.dataset);
  const users = drawUsers(dataset, settings.limit, settings.seed);
  await using parts = await BenchParts.open(settings, arms);
  const coldStartMs = performance.now() - started;
  if (resumed !== undefined) checkSame(resumed, dataset, parts);

  const run = resumed ?? (await createRun(runs, settings, arms, dataset, users, parts));
  using stores = new StoreFolder(settings);
  const notes = parts.backend.passedOver.map(({ name, reason }) => `vector backend ${name} passed over: ${reason}`);
  if (stores.shared) {
    notes.push('K/V store shared by users and runs (--kv-store): hit rates are not those of a fresh user');
  }
  const bench = openBench(parts, stores, {
    config: settings,
    runId: run.id,
    dataset,
    users,
    arms,
    database,
    warn: () => undefined,
  });
  const session = new RunSession(database, run, bench, { notes, coldStartMs, started });
  try {
    return await session.finish(settings, hooks);
  } catch (error) {
    if (hooks.signal?.aborted) runs.update(run.id, { status: 'interrupted' });
    throw error;
  }
}

interface SessionStart {
  readonly notes: readonly string[];
  readonly coldStartMs: number;
  readonly started: number;
}

/** One process's share of a run, from the self-tests to the results. */
class RunSession {
  readonly #database: BenchDatabase;
  readonly #runs: RunRepository;
  readonly #run: RunRow;
  readonly #bench: RunBench;
  readonly #start: SessionStart;
  #probes: RunProbes | null;
  /** What earlier sessions of the run had spent. */
  readonly #spent: RunProbes['profile'];

  constructor(database: BenchDatabase, run: RunRow, bench: RunBench, start: SessionStart) {
    this.#database = database;
    this.#runs = new RunRepository(database);
    this.#run = run;
    this.#bench = bench;
    this.#start = start;
    this.#probes = run.probes as RunProbes | null;
    this.#spent = this.#probes?.profile ?? { wallMs: 0, modelMs: 0, embedderMs: 0, coldStartMs: start.coldStartMs };
  }

  async finish(config: BenchConfig, hooks: BenchHooks): Promise<RunResults> {
    const progress = hooks.onProgress ?? (() => undefined);
    const signal = hooks.signal ?? new AbortController().signal;
    const { model, dataset, users } = this.#bench;
    this.#runs.update(this.#run.id, { status: 'running' });
    if (this.#probes === null) {
      progress({ phase: 'self-test', done: 0, total: 1 });
      const tests = await selfTests(model, dataset, users, { ...config, rules: promptRules(config) });
      this.#save({ ...tests, notes: this.#start.notes, profile: this.#profile(), isolation: null });
    }

    const turns = new TurnRepository(this.#database);
    const openUser = (position: number): UserRun => new UserRun(this.#bench, users[position]!, position);
    const userRuns = users.map((_, position) => openUser(position));
    const total = userRuns.reduce((sum, userRun) => sum + userRun.turns, 0);
    const isFinished = ({ userId, turns: own }: UserRun): boolean => turns.count(this.#run.id, userId) === own;
    progress({ phase: 'warm-up', done: 0, total: 1 });
    // What warming up leaves in the database goes when that user begins.
    const first = userRuns.findIndex((userRun) => !isFinished(userRun));
    if (first !== -1) await openUser(first).warmUp();
    let done = 0;
    for (const userRun of userRuns) {
      if (isFinished(userRun)) {
        done += userRun.turns;
        continue;
      }
      turns.deleteUser(this.#run.id, userRun.userId);
      await userRun.run(() => {
        done++;
        progress({ phase: 'turns', done, total });
      }, signal);
      this.#save({ ...this.#probes!, profile: this.#profile() });
    }

    progress({ phase: 'isolation', done: 0, total: 1 });
    await this.#probeIsolation(config);
    progress({ phase: 'report', done: 0, total: 1 });
    this.#save({ ...this.#probes!, profile: this.#profile() });
    this.#runs.update(this.#run.id, { status: 'finished', finishedAt: Date.now() });
    const results = summarise(this.#database, this.#runs.findById(this.#run.id)!);
    this.#runs.update(this.#run.id, { results });
    return results;
  }

  async #probeIsolation(config: BenchConfig): Promise<void> {
    const { arms, keeper, stage, runId } = this.#bench;
    const systems = arms.filter(({ arm }) => arm.name === 'rag' || arm.name === 'dki');
    if (systems.length === 0) return;
    const isolation = await probeIsolation(
      {
        runId,
        keeper,
        stage,
        systems: systems.map(({ arm, system }) => ({ name: arm.name, kv: arm.kv, system })),
        topK: config.topK,
        threshold: config.threshold,
      },
      config.seed,
    );
    this.#save({ ...this.#probes!, isolation });
  }

  #save(probes: RunProbes): void {
    this.#probes = probes;
    this.#runs.update(this.#run.id, { probes });
  }

  #profile(): RunProbes['profile'] {
    const { model, embeddings } = this.#bench;
    return {
      wallMs: this.#spent.wallMs + performance.now() - this.#start.started,
      modelMs: this.#spent.modelMs + model.clock.callMs,
      embedderMs: this.#spent.embedderMs + embeddings.stats().callMs,
      coldStartMs: this.#spent.coldStartMs,
    };
  }
}

function decisive(config: BenchConfig): Partial<BenchConfig> {
  return Object.fromEntries(DECISIVE.filter((key) => key in config).map((key) => [key, config[key]]));
}

function findResumable(runs: RunRepository, name: string): RunRow {
  const run = runs.findByName(name);
  if (run === undefined) {
    const known = runs.list().map((other) => other.name);
    throw new BenchError(
      'not-found',
      `--resume ${name}: there is no such run`,
      known.length === 0 ? 'start one: npm run bench' : `the last runs are ${known.slice(-3).join(', ')}`,
    );
  }
  if (run.status === 'finished') {
    throw new BenchError(
      'bad-option',
      `--resume ${name}: the run is finished`,
      `see it: npm run tables -- --run ${name}`,
    );
  }
  return run;
}

/** A run goes on only with the data and the models that it began with. */
function checkSame(run: RunRow, dataset: Dataset, parts: BenchParts): void {
  const before = run.dataset as { sha256: string };
  const model = run.model as { sha256: string };
  const changed =
    before.sha256 !== dataset.sha256 ? 'data set' : model.sha256 !== parts.model.info.sha256 ? 'model' : undefined;
  if (changed === undefined) return;
  throw new BenchError(
    'bad-option',
    `--resume ${run.name}: the ${changed} is not the one that the run began with`,
    `give the same ${changed}, or start a new run`,
  );
}

async function createRun(
  runs: RunRepository,
  config: BenchConfig,
  arms: readonly Arm[],
  dataset: Dataset,
  users: readonly DatasetUser[],
  parts: BenchParts,
): Promise<RunRow> {
  const {
    model,
    backend: { backend },
  } = parts;
  const embedder = await parts.embeddings.info();
  const { name, sha256, parameters, contextTokens } = model.info;
  return runs.create({
    name: config.run ?? `${config.suite}-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}`,
    suite: config.suite,
    seed: config.seed,
    config: {
      ...decisive(config),
      model: basename(config.model),
      arms: arms.map(({ name: arm, exact, kv }) => ({ name: arm, exact, kv })),
    },
    environment: {
      ...describeEnvironment(),
      llm: model.info.backend,
      threads: model.info.threads,
      contextOptions: model.info.contextOptions,
    },
    model: { name, sha256, parameters, contextTokens },
    embedder: { name: embedder.name, sha256: embedder.sha256 },
    dataset: {
      name: dataset.name,
      sha256: dataset.sha256,
      items: users.reduce((sum, user) => sum + user.items.length, 0),
      users: users.length,
      counts: datasetCounts(users),
    },
    retriever: { name: config.retriever, backend: backend.name, version: backend.version },
  });
}
