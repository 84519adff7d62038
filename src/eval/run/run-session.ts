import type { BenchConfig } from '../../config/bench-config.ts';
import type { BenchDatabase } from '../../store/database.ts';
import { RunRepository } from '../../store/run-repository.ts';
import { RunUserRepository } from '../../store/run-user-repository.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import { auditSum } from '../../store/records/engine-audit.ts';
import type { RunResults } from '../../store/records/results.ts';
import type { RunProbes } from '../../store/records/run-probes.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { resultsOf } from '../analysis/stored-results.ts';
import { judgeTurns } from './judge/judge-turns.ts';
import { type PlantedVerdicts, withPlantedVerdicts } from './judge/planted-verdicts.ts';
import { askUsers } from './ask-users.ts';
import { machineLoad } from './machine-load.ts';
import { selfTestBudgetMs } from './parity-self-test.ts';
import { promptRules } from './bench-parts.ts';
import { probeBench } from './probe-bench.ts';
import type { Crew } from './workers/crew.ts';
import type { BenchHooks, Progress } from './progress.ts';
import type { RunClock } from './run-clock.ts';
import { type ProcessStart, RunFindings } from './run-findings.ts';
import { cheapestItem, estimateRun } from './run-estimate.ts';
import { selfTests } from './self-tests.ts';
import type { MeasureContext } from './suite.ts';
import { UserRun, type RunBench } from './user-run.ts';
import type { UserOfPlan } from './users-of-plan.ts';
import { warmUp } from './warm-up.ts';

/** The start of a process's share of a run. */
export interface SessionStart extends ProcessStart {
  readonly notes: readonly string[];
  /** Verdicts of the judge on planted answers; missing where none is asked. */
  readonly planted?: PlantedVerdicts;
  /** Of the run's report. */
  readonly folder: string;
  readonly crew: Crew;
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
  readonly #findings: RunFindings;
  readonly #clock: RunClock;

  constructor(database: BenchDatabase, run: RunRecord, bench: RunBench, start: SessionStart) {
    this.#database = database;
    this.#runs = new RunRepository(database);
    this.#run = run;
    this.#bench = bench;
    this.#start = start;
    this.#findings = new RunFindings(database, run, bench.clock, start);
    this.#clock = bench.clock;
  }

  async finish(config: BenchConfig, hooks: BenchHooks): Promise<RunResults> {
    const progress = hooks.onProgress ?? (() => undefined);
    const signal = hooks.signal ?? new AbortController().signal;
    const { planned, users } = this.#bench;
    this.#runs.update(this.#run.id, { status: 'running' });
    const runUsers = new RunUserRepository(this.#database, this.#run.id);
    const total = turnsOf(planned);
    if (this.#findings.probes === null) {
      progress({ phase: 'self-test', done: 0, total: 1 });
      const { planted, notes } = this.#start;
      const settings = { ...config, rules: promptRules(config) };
      const tests = await this.#clock.time('checks', () =>
        selfTests(this.#bench, users, settings, { budgetOf: (wholeMs) => selfTestBudgetMs(wholeMs, total), signal }),
      );
      const metrics = planted === undefined ? tests.metrics : withPlantedVerdicts(tests.metrics, planted);
      await this.#findings.begin({ ...tests, metrics, notes });
    }

    progress({ phase: 'warm-up', done: 0, total: 1 });
    const left = planned.filter((user) => !runUsers.isFinished(user));
    await this.#clock.time('warmUp', () => this.#warmUp(left, hooks, signal));
    await this.#askAll(total - turnsOf(left), total, progress, signal);

    progress({ phase: 'isolation', done: 0, total: 1 });
    const isolation = await this.#clock.time('checks', () => probeBench(this.#bench, config, signal));
    if (isolation !== null) await this.#findings.save({ isolation });
    const { folder, engines, datasets, openRetriever } = this.#start;
    const { suite, runId, keeper } = this.#bench;
    const { measure } = suite;
    if (measure !== undefined) {
      const onStep = (stepsDone: number, steps: number): void =>
        progress({ phase: 'measure', done: stepsDone, total: steps });
      onStep(0, 1);
      const measured = await this.#clock.time('measure', () =>
        measure({
          ...{ config, datasets, signal, folder, engines, openRetriever, onStep, runId, keeper },
          arms: this.#bench.arms.map(({ arm }) => arm),
        }),
      );
      await this.#findings.save({ measured });
    }
    const { judge } = this.#bench;
    if (judge !== undefined) {
      const turns = new TurnRepository(this.#database);
      const onAsked = (asked: number, of: number) => progress({ phase: 'judge', done: asked, total: of });
      const judged = await this.#clock.time('judge', () => judgeTurns(judge, turns, this.#run.id, { signal, onAsked }));
      await this.#findings.save({ judge: judged });
    }
    progress({ phase: 'report', done: 0, total: 1 });
    await this.#findings.save(await this.#audit(signal));
    const probes = this.#findings.probes!;
    const finishedAt = Date.now();
    const results = resultsOf(this.#database, { ...this.#run, status: 'finished', probes, finishedAt });
    this.#runs.update(this.#run.id, { status: 'finished', finishedAt, results });
    return results;
  }

  /** Asks users until all turns of all of them are there, those whom other workers ask and those whom they give back. */
  async #askAll(
    before: number,
    total: number,
    progress: (progress: Progress) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { crew } = this.#start;
    let [finished, underWay] = [before, 0];
    const onTurn = (): void => progress({ phase: 'turns', done: finished + underWay + crew.turns, total });
    const save = async (): Promise<void> =>
      this.#findings.save({ load: machineLoad(this.#findings.probes?.load), ...(await this.#audit(signal)) });
    crew.begin(onTurn);
    for (;;) {
      await askUsers(this.#bench, () => Promise.resolve(this.#findings.probes!.cells), {
        onTurn: (turns) => {
          underWay = turns;
          onTurn();
        },
        onUser: async () => {
          finished += underWay;
          underWay = 0;
          await save();
        },
        signal,
        warmsUp: false,
      });
      if (this.#bench.queue.isFinished) break;
      await crew.changed(signal);
    }
    if (crew.size === 1) return;
    await save();
    const { notes } = this.#findings.probes!;
    await this.#findings.save({ notes: [...notes, ...crew.notes] });
  }

  /**
   * Warms up on the cheapest item of the users who are left, and says how long these take. Rows of the warm-up are deleted
   * when its user begins, be it of another worker's.
   */
  async #warmUp(left: readonly UserOfPlan[], hooks: BenchHooks, signal: AbortSignal): Promise<void> {
    const { planned, settings, engine } = this.#bench;
    const unfinished = left.map(({ user }) => user);
    const cheapest = cheapestItem(unfinished);
    if (cheapest === undefined) return;
    const warm = await warmUp(new UserRun(this.#bench, left[cheapest.user]!), cheapest.item, signal);
    const { topK, repeats } = settings;
    const resumed = left.length < planned.length;
    hooks.onEstimate?.(
      estimateRun(unfinished, warm, {
        ...{ topK, repeats, resumed, contextTokens: engine.info.contextTokens },
        workers: this.#start.crew.size,
      }),
    );
  }

  /** Findings so far, of this session and of those before. */
  async #audit(signal: AbortSignal): Promise<Pick<RunProbes, 'audit'>> {
    const own = await this.#bench.engine.audit({ signal });
    if (own === null) return {};
    const before = this.#run.probes?.audit;
    return { audit: before === undefined ? own : auditSum(before, own) };
  }
}

function turnsOf(users: readonly UserOfPlan[]): number {
  return users.reduce((sum, { turns }) => sum + turns, 0);
}
