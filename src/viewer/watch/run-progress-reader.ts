import type { BenchDatabase } from '../../store/database.ts';
import { RunProgressRepository } from '../../store/run-progress-repository.ts';
import { UserClaimRepository } from '../../store/user-claim-repository.ts';
import { plannedSample, plannedTurns } from '../../eval/analysis/planned-sample.ts';
import { findRunByName } from '../../eval/analysis/find-runs.ts';
import { type HiddenTexts, hiddenInReports } from '../hidden-texts.ts';

const ratedTurns = 400;
const shownFaults = 5;
/** The speed is computed over turns of the last five minutes. */
const rateWindowMs = 5 * 60_000;

/** Reads the progress of a run at `now`, in ms since 1970. @throws BenchError `not-found` for an unknown name */
export function readRunProgress(
  database: BenchDatabase,
  runName: string,
  hidden: HiddenTexts = hiddenInReports,
  now = Date.now(),
) {
  const run = findRunByName(database, runName);
  const { name, suite, status, startedAt, dataset } = run;
  const growth = new RunProgressRepository(database, run.id);
  const { turns, last, faults } = growth.count();
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
    /** Users with all turns written. */
    users: new UserClaimRepository(database, run.id).finished().size,
    ofUsers: dataset.users,
    turnsPerSecond: turnRate(times, now),
    lastTurnAt: times.at(-1)?.createdAt ?? null,
    readAt: now,
    faults: { ...countFaults(faults), latest: faults.length === 0 ? [] : latestFaults(growth, hidden(run) !== null) },
  };
}

export type RunProgress = ReturnType<typeof readRunProgress>;

function latestFaults(growth: RunProgressRepository, areHidden: boolean) {
  const latest = growth.latestFaults(shownFaults);
  return latest.map((turn) => (areHidden && turn.error !== null ? { ...turn, error: 'failed' } : turn));
}

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
