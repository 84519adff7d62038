import type { BenchDatabase } from '../../store/database.ts';
import { RunGrowthRepository } from '../../store/run-growth-repository.ts';
import { RunUserRepository } from '../../store/run-user-repository.ts';
import { metricsOfRun } from '../../eval/analysis/metrics/run-metrics.ts';
import { plannedTurns } from '../../eval/analysis/unfinished-run.ts';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import { UsersSoFar } from '../../eval/analysis/users-so-far.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { runNamed } from '../find-run.ts';
import { type HiddenTexts, hiddenInReports } from '../hidden-texts.ts';
import type { FaultsSoFar, RunState } from './run-state.ts';
import { turnRate } from './turn-rate.ts';

/** Turns by which the rate is measured. */
const ratedTurns = 400;
/** Faulty turns that are shown. */
const shownFaults = 5;

/** The turns of a run up to one of them, in numbers. */
interface KnownTurns {
  readonly turns: number;
  /** Id of the last; 0 before the first. */
  readonly last: number;
  readonly checks: ReadonlyMap<string, number>;
  readonly errors: number;
}

const nothing: KnownTurns = { turns: 0, last: 0, checks: new Map(), errors: 0 };

/** Reads how far a run has come, again and again: what it read before it does not read again. */
export class RunObserver {
  readonly #database: BenchDatabase;
  readonly #name: string;
  readonly #hidden: HiddenTexts;
  #runId = '';
  #known = nothing;
  #faults: FaultsSoFar['latest'] = [];
  #users: UsersSoFar | undefined;
  #added = new Set<string>();

  /** @param hidden by default the rule of reports */
  constructor(database: BenchDatabase, name: string, hidden: HiddenTexts = hiddenInReports) {
    this.#database = database;
    this.#name = name;
    this.#hidden = hidden;
  }

  /** @param now milliseconds since 1970 @throws BenchError `not-found` for an unknown name */
  read(now = Date.now()): RunState {
    const run = runNamed(this.#database, this.#name);
    if (run.id !== this.#runId) {
      this.#runId = run.id;
      this.#forgetTurns();
      this.#forgetUsers();
    }
    const growth = new RunGrowthRepository(this.#database, run.id);
    const hidesTexts = this.#hidden(run) !== null;
    this.#readTurns(growth, hidesTexts);
    const { turns, last, checks, errors } = this.#known;
    const finished = new RunUserRepository(this.#database, run.id).finished();
    const arms = this.#usersOf(run, growth, finished).arms();
    const times = run.status === 'running' && last > 0 ? growth.latestTimes(last, ratedTurns) : [];
    return {
      ...{ name: run.name, suite: run.suite, status: run.status, startedAt: run.startedAt },
      begun: run.probes !== null,
      ...{ turns, ofTurns: plannedTurns(run), users: finished.size, ofUsers: run.dataset.users },
      ...{ turnsPerSecond: turnRate(times, now), lastTurnAt: times.at(-1)?.createdAt ?? null, readAt: now },
      ...{ primary: metricsOfRun(measured(run)).primary, unknownQuality: unknownQuality(run.model), arms },
      faults: { checks, errors, latest: this.#faults },
    };
  }

  #readTurns(growth: RunGrowthRepository, hidesTexts: boolean): void {
    const before = this.#known;
    const found = growth.newTurns(before.last);
    const turns = before.turns + found.turns;
    // Whoever goes on with a run asks users again who were not finished, and deletes their turns.
    if (before !== nothing && growth.turns() < turns) {
      this.#forgetTurns();
      this.#readTurns(growth, hidesTexts);
      return;
    }
    const checks = new Map(before.checks);
    let { errors } = before;
    for (const fault of found.faults) {
      if (fault.failed) errors += fault.turns;
      const failed = (fault.checks ?? '').split(',').filter((check) => check !== '' && check !== 'errors');
      for (const check of failed) checks.set(check, (checks.get(check) ?? 0) + fault.turns);
    }
    this.#known = { turns, last: found.last ?? before.last, checks, errors };
    if (found.faults.length === 0) return;
    this.#faults = growth
      .latestFaults(shownFaults)
      .map((turn) => ({ ...turn, error: hidesTexts && turn.error !== null ? 'failed' : turn.error }));
  }

  #usersOf(run: RunRecord, growth: RunGrowthRepository, finished: ReadonlySet<string>): UsersSoFar {
    if ([...this.#added].some((userId) => !finished.has(userId))) this.#forgetUsers();
    this.#users ??= new UsersSoFar(run.plan.arms, metricsOfRun(measured(run)).primary);
    for (const userId of finished) {
      if (this.#added.has(userId)) continue;
      this.#users.add(growth.valuesOf(userId));
      this.#added.add(userId);
    }
    return this.#users;
  }

  #forgetTurns(): void {
    this.#known = nothing;
    this.#faults = [];
  }

  #forgetUsers(): void {
    this.#users = undefined;
    this.#added = new Set();
  }
}

const measured = ({ dataset, plan }: RunRecord) => ({ dataset, metrics: plan.metrics ?? [] });
