import type { BenchDatabase } from '../../store/database.ts';
import { RunProgressRepository } from '../../store/run-progress-repository.ts';
import { UserClaimRepository } from '../../store/user-claim-repository.ts';
import { metricsOfRun } from '../../eval/analysis/metrics/metric-selection.ts';
import { RunningMeans } from '../../eval/analysis/running-means.ts';
import { plannedSample, plannedTurns } from '../../eval/analysis/planned-sample.ts';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { findRunByName } from '../../eval/analysis/find-runs.ts';
import { type HiddenTexts, hiddenInReports } from '../hidden-texts.ts';

const ratedTurns = 400;
const shownFaults = 5;
/** The speed is computed over turns of the last five minutes. */
const rateWindowMs = 5 * 60_000;

/** Reads the progress of a run repeatedly. Finished users, whose turns are all stored, are read only once. */
export class RunProgressReader {
  readonly #database: BenchDatabase;
  readonly #name: string;
  readonly #hidden: HiddenTexts;
  #runId = '';
  #users: RunningMeans | undefined;
  #added = new Set<string>();

  constructor(database: BenchDatabase, name: string, hidden: HiddenTexts = hiddenInReports) {
    this.#database = database;
    this.#name = name;
    this.#hidden = hidden;
  }

  /** @param now milliseconds since 1970 @throws BenchError `not-found` for an unknown name */
  read(now = Date.now()) {
    const run = findRunByName(this.#database, this.#name);
    const { name, suite, status, startedAt, dataset } = run;
    const growth = new RunProgressRepository(this.#database, run.id);
    const { turns, last, faults } = growth.count();
    const finished = new UserClaimRepository(this.#database, run.id).finished();
    const times = status === 'running' && last !== null ? growth.latestTimes(last, ratedTurns) : [];
    return {
      name,
      suite,
      status,
      startedAt,
      // Probes are stored once the self-tests have passed.
      begun: run.probes !== null,
      turns,
      ofTurns: plannedTurns(run.plan.arms, plannedSample(run)),
      // Finished users; `arms` is over their turns.
      users: finished.size,
      ofUsers: dataset.users,
      turnsPerSecond: turnRate(times, now),
      lastTurnAt: times.at(-1)?.createdAt ?? null,
      readAt: now,
      primary: primaryMetric(run),
      unknownQuality: unknownQuality(run.model),
      arms: this.#usersSoFar(run, growth, finished).arms(),
      faults: { ...countFaults(faults), latest: faults.length === 0 ? [] : this.#latestFaults(run, growth) },
    };
  }

  #latestFaults(run: RunRecord, growth: RunProgressRepository) {
    const hides = this.#hidden(run) !== null;
    return growth
      .latestFaults(shownFaults)
      .map((turn) => (hides && turn.error !== null ? { ...turn, error: 'failed' } : turn));
  }

  #usersSoFar(run: RunRecord, growth: RunProgressRepository, finished: ReadonlySet<string>): RunningMeans {
    // Starts over for another run, or if turns of a user were deleted: a resumed run repeats unfinished users.
    const isOther = run.id !== this.#runId || [...this.#added].some((userId) => !finished.has(userId));
    if (this.#users === undefined || isOther) {
      this.#runId = run.id;
      this.#users = new RunningMeans(run.plan.arms, primaryMetric(run));
      this.#added = new Set();
    }
    for (const userId of finished) {
      if (!this.#added.has(userId)) this.#users.add(growth.userValues(userId));
      this.#added.add(userId);
    }
    return this.#users;
  }
}

const primaryMetric = ({ dataset, plan }: RunRecord) => metricsOfRun({ dataset, metrics: plan.metrics ?? [] }).primary;

/** The progress of a run; `unknownQuality` is the reason why answers are not judged, or null. */
export type RunProgress = ReturnType<RunProgressReader['read']>;

function countFaults(faults: ReturnType<RunProgressRepository['count']>['faults']) {
  const checks = new Map<string, number>();
  for (const { checks: failed, turns } of faults) {
    for (const check of failed.split(',')) {
      if (check !== '' && check !== 'errors') checks.set(check, (checks.get(check) ?? 0) + turns);
    }
  }
  return { checks, errors: faults.filter(({ failed }) => failed).reduce((sum, { turns }) => sum + turns, 0) };
}

/** Turns per second over the last minutes, counted from the end of the first item; null if only one item was written. */
export function turnRate(
  written: readonly { readonly itemId: string; readonly createdAt: number }[],
  now: number,
): number | null {
  const recent = written.filter(({ createdAt }) => createdAt > now - rateWindowMs);
  const [first] = recent;
  if (first === undefined) return null;
  const began = recent.findLastIndex(({ itemId }) => itemId === first.itemId);
  const ms = recent.at(-1)!.createdAt - recent[began]!.createdAt;
  const turns = recent.length - 1 - began;
  return turns === 0 || ms <= 0 ? null : (turns * 1000) / ms;
}
