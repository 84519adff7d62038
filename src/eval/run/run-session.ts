import type { BenchConfig } from '../../config/bench-config.ts';
import type { BenchDatabase } from '../../db/database.ts';
import { RunRepository } from '../../db/run-repository.ts';
import type { RunRow } from '../../db/schema.ts';
import { TurnRepository } from '../../db/turn-repository.ts';
import type { RunResults } from '../results.ts';
import { summarise } from '../stored-results.ts';
import { probeIsolation } from './isolation-probe.ts';
import { promptRules } from './open-bench.ts';
import type { BenchHooks } from './progress.ts';
import type { RunProbes } from './run-probes.ts';
import { selfTests } from './self-tests.ts';
import type { MeasureRoom } from '../suites/suite.ts';
import { UserRun, type RunBench } from './user-run.ts';

/** What a process brings to a run. */
export interface SessionStart {
  readonly notes: readonly string[];
  readonly coldStartMs: number;
  readonly modelLoadMs: number;
  readonly started: number;
  /** Of the run's report. */
  readonly folder: string;
  readonly openRetriever: MeasureRoom['openRetriever'];
}

/** Arms that recall the user's own memories by search, whatever their settings; the twin is `rag` again. */
const RECALLING = /^(?:rag|rag-cached|dki|dki-(?!wrong)[^@]*)(?:@.*)?$/;

/** One process's share of a run, from the self-tests to the results. */
export class RunSession {
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
    const { model, users } = this.#bench;
    this.#runs.update(this.#run.id, { status: 'running' });
    if (this.#probes === null) {
      progress({ phase: 'self-test', done: 0, total: 1 });
      const tests = await selfTests(model, users, { ...config, rules: promptRules(config) });
      this.#save({
        ...tests,
        notes: this.#start.notes,
        profile: this.#profile(),
        kvStores: {},
        isolation: null,
        measured: null,
      });
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

    // Before the probe for isolation adds its own.
    this.#save({ ...this.#probes!, kvStores: this.#kvStores(), retriever: this.#bench.keeper.stats() });
    progress({ phase: 'isolation', done: 0, total: 1 });
    await this.#probeIsolation(config);
    const { folder, openRetriever } = this.#start;
    const { measure } = this.#bench.suite;
    if (measure !== undefined) {
      progress({ phase: 'measure', done: 0, total: 1 });
      this.#save({ ...this.#probes!, measured: await measure({ config, users, signal, folder, openRetriever }) });
    }
    progress({ phase: 'report', done: 0, total: 1 });
    this.#save({ ...this.#probes!, profile: this.#profile() });
    const finishedAt = Date.now();
    const results = summarise(this.#database, { ...this.#run, status: 'finished', probes: this.#probes, finishedAt });
    this.#runs.update(this.#run.id, { status: 'finished', finishedAt, results });
    return results;
  }

  async #probeIsolation(config: BenchConfig): Promise<void> {
    const { arms, keeper, stage, runId } = this.#bench;
    const systems = arms.filter(({ arm }) => RECALLING.test(arm.name));
    if (systems.length === 0) return;
    const isolation = await probeIsolation(
      {
        runId,
        keeper,
        stage,
        systems: systems.map(({ arm, system }) => ({ name: arm.name, mustHear: arm.claims === 'bits', system })),
        topK: config.topK,
        threshold: config.threshold,
      },
      config.seed,
    );
    this.#save({ ...this.#probes!, isolation });
  }

  #kvStores(): RunProbes['kvStores'] {
    return Object.fromEntries(
      this.#bench.arms.flatMap(({ arm, system }) => {
        const { kvStore } = system.getStats();
        return kvStore === undefined ? [] : [[arm.name, kvStore]];
      }),
    );
  }

  #save(probes: RunProbes): void {
    this.#probes = probes;
    this.#runs.update(this.#run.id, { probes });
  }

  #profile(): RunProbes['profile'] {
    const { model, embeddings } = this.#bench;
    return {
      wallMs: this.#spent.wallMs + performance.now() - this.#start.started,
      modelMs: this.#spent.modelMs + this.#start.modelLoadMs + model.clock.callMs,
      embedderMs: this.#spent.embedderMs + embeddings.stats().callMs,
      coldStartMs: this.#spent.coldStartMs,
    };
  }
}
