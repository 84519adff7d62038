import { availableParallelism, loadavg } from 'node:os';
import type { BenchConfig } from '../../config/bench-config.ts';
import type { BenchDatabase } from '../../db/database.ts';
import { RunRepository } from '../../db/run-repository.ts';
import { SessionRepository } from '../../db/session-repository.ts';
import { TurnRepository } from '../../db/turn-repository.ts';
import { auditSum } from '../../records/engine-audit.ts';
import type { RunResults } from '../../records/results.ts';
import type { IsolationProbe, RunProbes } from '../../records/run-probes.ts';
import type { RunRecord } from '../../records/run-record.ts';
import { resultsOf } from '../analysis/stored-results.ts';
import { judgeTurns } from '../judge/judge-turns.ts';
import { type PlantedVerdicts, withPlantedVerdicts } from '../judge/planted-verdicts.ts';
import { isolationSessions, probeAskers, probeIsolation } from './isolation-probe.ts';
import { selfTestBudgetMs } from './parity-self-test.ts';
import { promptRules } from './bench-parts.ts';
import { TurnProver } from './prove/turn-prover.ts';
import { TurnSample } from './prove/turn-sample.ts';
import type { BenchHooks } from './progress.ts';
import type { RunClock } from './run-clock.ts';
import { cheapestItem, estimateRun, type WarmUp } from './run-estimate.ts';
import { selfTests } from './self-tests.ts';
import type { MeasureContext } from './suite.ts';
import { UserRun, type RunBench } from './user-run.ts';

/** A warm-up that takes less is done twice, and the second round is measured. */
const SECOND_ROUND_BELOW_MS = 4000;

/** The start of a process's share of a run. */
export interface SessionStart {
  readonly notes: readonly string[];
  /** What the judge said of planted answers; missing where none is asked. */
  readonly planted?: PlantedVerdicts;
  readonly coldStartMs: number;
  readonly modelLoadMs: number;
  readonly started: number;
  /** Of the run's report. */
  readonly folder: string;
  readonly engines: MeasureContext['engines'];
  readonly datasets: MeasureContext['datasets'];
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
  /** Of earlier sessions of the run. */
  readonly #audited: RunProbes['audit'];
  readonly #clock: RunClock;

  constructor(database: BenchDatabase, run: RunRecord, bench: RunBench, start: SessionStart) {
    this.#database = database;
    this.#runs = new RunRepository(database);
    this.#run = run;
    this.#bench = bench;
    this.#start = start;
    this.#probes = run.probes;
    this.#spent = this.#probes?.profile ?? { wallMs: 0, modelMs: 0, embedderMs: 0, coldStartMs: start.coldStartMs };
    this.#audited = this.#probes?.audit;
    this.#clock = bench.clock;
  }

  async finish(config: BenchConfig, hooks: BenchHooks): Promise<RunResults> {
    const progress = hooks.onProgress ?? (() => undefined);
    const signal = hooks.signal ?? new AbortController().signal;
    const { users } = this.#bench;
    this.#runs.update(this.#run.id, { status: 'running' });
    const openUser = (position: number): UserRun =>
      new UserRun(this.#bench, users[position]!, users.slice(0, position).flatMap(({ items }) => items).length);
    const userRuns = users.map((_, position) => openUser(position));
    const total = userRuns.reduce((sum, userRun) => sum + userRun.turns, 0);
    if (this.#probes === null) {
      progress({ phase: 'self-test', done: 0, total: 1 });
      const { planted } = this.#start;
      const settings = { ...config, rules: promptRules(config) };
      const tests = await this.#clock.time('checks', () =>
        selfTests(this.#bench, users, settings, { budgetOf: (wholeMs) => selfTestBudgetMs(wholeMs, total), signal }),
      );
      this.#save({
        ...tests,
        metrics: planted === undefined ? tests.metrics : withPlantedVerdicts(tests.metrics, planted),
        notes: this.#start.notes,
        profile: await this.#profile(),
        kvStores: {},
        isolation: null,
        measured: null,
      });
    }

    const turns = new TurnRepository(this.#database);
    const isFinished = ({ userId, turns: own }: UserRun): boolean => turns.count(this.#run.id, userId) === own;
    progress({ phase: 'warm-up', done: 0, total: 1 });
    const left = userRuns.flatMap((userRun, position) => (isFinished(userRun) ? [] : [position]));
    await this.#clock.time('warmUp', () => this.#warmUp(left, openUser, hooks, signal));
    const prover = this.#openProver();
    let done = 0;
    for (const userRun of userRuns) {
      if (isFinished(userRun)) {
        done += userRun.turns;
        continue;
      }
      turns.deleteUser(this.#run.id, userRun.userId);
      await userRun.run(
        prover,
        () => {
          done++;
          progress({ phase: 'turns', done, total });
        },
        signal,
      );
      const seen = { ...this.#surroundings(), ...(await this.#audit(signal)) };
      this.#save({ ...this.#probes!, profile: await this.#profile(), ...seen });
    }

    // Before the probe for isolation adds its own.
    this.#save({ ...this.#probes!, kvStores: this.#kvStores(), retriever: this.#bench.keeper.stats() });
    progress({ phase: 'isolation', done: 0, total: 1 });
    await this.#clock.time('checks', () => this.#probeIsolation(config, signal));
    const { folder, engines, datasets, openRetriever } = this.#start;
    const { suite, runId, keeper } = this.#bench;
    const { measure } = suite;
    if (measure !== undefined) {
      const onStep = (stepsDone: number, steps: number): void =>
        progress({ phase: 'measure', done: stepsDone, total: steps });
      onStep(0, 1);
      this.#save({
        ...this.#probes!,
        measured: await this.#clock.time('measure', () =>
          measure({
            ...{ config, datasets, signal, folder, engines, openRetriever, onStep, runId, keeper },
            arms: this.#bench.arms.map(({ arm }) => arm),
          }),
        ),
      });
    }
    const { judge } = this.#bench;
    if (judge !== undefined) {
      const onAsked = (done: number, total: number) => progress({ phase: 'judge', done, total });
      const judged = await this.#clock.time('judge', () => judgeTurns(judge, turns, this.#run.id, { signal, onAsked }));
      this.#save({ ...this.#probes!, judge: judged });
    }
    progress({ phase: 'report', done: 0, total: 1 });
    const probes = { ...this.#probes!, profile: await this.#profile(), ...(await this.#audit(signal)) };
    this.#save(probes);
    const finishedAt = Date.now();
    const results = resultsOf(this.#database, { ...this.#run, status: 'finished', probes, finishedAt });
    this.#runs.update(this.#run.id, { status: 'finished', finishedAt, results });
    return results;
  }

  #openProver(): TurnProver {
    const { arms, settings, users } = this.#bench;
    const traits = arms.map(({ arm }) => arm.traits);
    return new TurnProver(this.#bench, new TurnSample(users, traits, settings), this.#probes!.cells);
  }

  /**
   * Warms up on the cheapest item of the users who are left, and says how long these take. Rows of the warm-up are deleted
   * when its user begins.
   * @param left positions of users who are not finished
   */
  async #warmUp(
    left: readonly number[],
    openUser: (position: number) => UserRun,
    hooks: BenchHooks,
    signal: AbortSignal,
  ): Promise<void> {
    const { users, settings, engine } = this.#bench;
    const unfinished = left.map((position) => users[position]!);
    const cheapest = cheapestItem(unfinished);
    if (cheapest === undefined) return;
    const start = performance.now();
    const userRun = openUser(left[cheapest.user]!);
    const round = (): Promise<WarmUp> => userRun.warmUp(cheapest.item, signal);
    let warm = await round();
    // Of a quick model the first round is much slower than those to come.
    if (performance.now() - start < SECOND_ROUND_BELOW_MS) warm = await round();
    const { topK, repeats } = settings;
    const resumed = left.length < users.length;
    hooks.onEstimate?.(
      estimateRun(unfinished, warm, { topK, repeats, resumed, contextTokens: engine.info.contextTokens }),
    );
  }

  async #probeIsolation(config: BenchConfig, signal: AbortSignal): Promise<void> {
    const { arms, engine, keeper, runId, users } = this.#bench;
    const systems = arms
      .filter(({ arm: { traits } }) => traits.retrieves === 'retrieved' && traits.control === null)
      .map(({ arm, system, reopen }) => ({ traits: arm.traits, system, reopen }));
    if (systems.length === 0) return;
    const { topK, threshold, seed } = config;
    const questions = users.reduce((sum, { items }) => sum + items.length, 0);
    const subject = { runId, engine, keeper, systems, topK, threshold };
    // Of a probe that was interrupted.
    new SessionRepository(this.#database).deleteBeginningWith(isolationSessions(runId));
    const probe = (): Promise<IsolationProbe> =>
      probeIsolation(subject, seed, { askers: probeAskers(questions), signal });
    const isolation = await arms.reduce(
      (work, { recorder }) =>
        () =>
          recorder.declared(work),
      probe,
    )();
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

  /** What the check of clocks needs beside the turns: calls outside of them, and the load of the machine. */
  #surroundings(): Pick<RunProbes, 'refusedCalls' | 'load'> {
    const refused = this.#bench.arms.map(({ arm, recorder }) => [arm.traits.name, recorder.refused] as const);
    const [average = 0] = loadavg();
    return {
      refusedCalls: Object.fromEntries(refused),
      load: { cores: availableParallelism(), average: Math.max(this.#probes?.load?.average ?? 0, average) },
    };
  }

  /** What was seen so far, of this session and of those before. */
  async #audit(signal: AbortSignal): Promise<Pick<RunProbes, 'audit'>> {
    const own = await this.#bench.engine.audit({ signal });
    if (own === null) return {};
    return { audit: this.#audited === undefined ? own : auditSum(this.#audited, own) };
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
      spent: this.#clock.spent,
      evaluatedTokens: this.#clock.tokens,
    };
  }
}
