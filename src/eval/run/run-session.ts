import type { BenchConfig } from '../../config/bench-config.ts';
import type { BenchDatabase } from '../../db/database.ts';
import { RunRepository } from '../../db/run-repository.ts';
import { TurnRepository } from '../../db/turn-repository.ts';
import type { RunResults } from '../../records/results.ts';
import type { RunProbes } from '../../records/run-probes.ts';
import type { RunRecord } from '../../records/run-record.ts';
import { resultsOf } from '../analysis/stored-results.ts';
import { probeIsolation } from './isolation-probe.ts';
import { promptRules } from './bench-parts.ts';
import type { BenchHooks } from './progress.ts';
import { selfTests } from './self-tests.ts';
import type { MeasureContext } from './suite.ts';
import { UserRun, type RunBench } from './user-run.ts';

/** The start of a process's share of a run. */
export interface SessionStart {
  readonly notes: readonly string[];
  readonly coldStartMs: number;
  readonly modelLoadMs: number;
  readonly started: number;
  /** Of the run's report. */
  readonly folder: string;
  readonly engines: MeasureContext['engines'];
  readonly openRetriever: MeasureContext['openRetriever'];
}

/** One process's share of a run, from the self-tests to the results. */
export class RunSession {
  readonly #database: BenchDatabase;
  readonly #runs: RunRepository;
  readonly #run: RunRecord;
  readonly #bench: RunBench;
  readonly #start: SessionStart;
  #probes: RunProbes | null;
  /** Time that earlier sessions of the run had spent. */
  readonly #spent: RunProbes['profile'];

  constructor(database: BenchDatabase, run: RunRecord, bench: RunBench, start: SessionStart) {
    this.#database = database;
    this.#runs = new RunRepository(database);
    this.#run = run;
    this.#bench = bench;
    this.#start = start;
    this.#probes = run.probes;
    this.#spent = this.#probes?.profile ?? { wallMs: 0, modelMs: 0, embedderMs: 0, coldStartMs: start.coldStartMs };
  }

  async finish(config: BenchConfig, hooks: BenchHooks): Promise<RunResults> {
    const progress = hooks.onProgress ?? (() => undefined);
    const signal = hooks.signal ?? new AbortController().signal;
    const { engine, users } = this.#bench;
    this.#runs.update(this.#run.id, { status: 'running' });
    if (this.#probes === null) {
      progress({ phase: 'self-test', done: 0, total: 1 });
      const tests = await selfTests(engine, users, { ...config, rules: promptRules(config) });
      this.#save({
        ...tests,
        notes: this.#start.notes,
        profile: await this.#profile(),
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
    // Rows of the warm-up are deleted when that user begins.
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
      this.#save({ ...this.#probes!, profile: await this.#profile() });
    }

    // Before the probe for isolation adds its own.
    this.#save({ ...this.#probes!, kvStores: this.#kvStores(), retriever: this.#bench.keeper.stats() });
    progress({ phase: 'isolation', done: 0, total: 1 });
    await this.#probeIsolation(config);
    const { folder, engines, openRetriever } = this.#start;
    const { measure } = this.#bench.suite;
    if (measure !== undefined) {
      progress({ phase: 'measure', done: 0, total: 1 });
      this.#save({
        ...this.#probes!,
        measured: await measure({ config, users, signal, folder, engines, openRetriever }),
      });
    }
    progress({ phase: 'report', done: 0, total: 1 });
    const probes = { ...this.#probes!, profile: await this.#profile() };
    this.#save(probes);
    const finishedAt = Date.now();
    const results = resultsOf(this.#database, { ...this.#run, status: 'finished', probes, finishedAt });
    this.#runs.update(this.#run.id, { status: 'finished', finishedAt, results });
    return results;
  }

  async #probeIsolation(config: BenchConfig): Promise<void> {
    const { arms, keeper, runId } = this.#bench;
    const systems = arms
      .filter(({ arm: { traits } }) => traits.retrieves === 'retrieved' && traits.control === null)
      .map(({ arm, system }) => ({ traits: arm.traits, system }));
    if (systems.length === 0) return;
    const { topK, threshold, seed } = config;
    const isolation = await probeIsolation({ runId, keeper, systems, topK, threshold }, seed);
    this.#save({ ...this.#probes!, isolation });
  }

  #kvStores(): RunProbes['kvStores'] {
    return Object.fromEntries(
      this.#bench.arms.flatMap(({ arm, system }) => {
        const { kvStore } = system.getStats();
        return kvStore === undefined ? [] : [[arm.traits.name, kvStore]];
      }),
    );
  }

  #save(probes: RunProbes): void {
    this.#probes = probes;
    this.#runs.update(this.#run.id, { probes });
  }

  async #profile(): Promise<RunProbes['profile']> {
    const { engine, embeddings } = this.#bench;
    const { busyMs } = await engine.meter();
    return {
      wallMs: this.#spent.wallMs + performance.now() - this.#start.started,
      modelMs: this.#spent.modelMs + this.#start.modelLoadMs + (busyMs ?? 0),
      embedderMs: this.#spent.embedderMs + embeddings.stats().callMs,
      coldStartMs: this.#spent.coldStartMs,
    };
  }
}
