import type { BenchDatabase } from '../../store/database.ts';
import { RunProgressRepository } from '../../store/run-progress-repository.ts';
import { UserClaimRepository } from '../../store/user-claim-repository.ts';
import { metricsOfRun } from '../../eval/analysis/metrics/metric-selection.ts';
import { runningMeans } from '../../eval/analysis/unfinished-run-results.ts';
import { plannedSample, plannedTurns } from '../../eval/analysis/planned-sample.ts';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { findRunByName } from '../../eval/analysis/find-runs.ts';
import { type HiddenTexts, hiddenInReports } from '../hidden-texts.ts';

const ratedTurns = 400;
const shownFaults = 5;
/** The speed is computed over turns of the last five minutes. */
const rateWindowMs = 5 * 60_000;

/**
 * Reads the progress of a run repeatedly. Finished users, whose turns are all stored, are read only once.
 * @returns reads the progress at `now`, in ms since 1970. @throws BenchError `not-found` for an unknown name
 */
export function runProgressReader(database: BenchDatabase, runName: string, hidden: HiddenTexts = hiddenInReports) {
  let means = { runId: '', added: new Set<string>(), ofUsers: runningMeans([], { unit: '%' }) };

  const updateMeans = (run: RunRecord, growth: RunProgressRepository, finished: ReadonlySet<string>): void => {
    // Starts over for another run, or if turns of a user were deleted: a resumed run repeats unfinished users.
    const isOther = run.id !== means.runId || [...means.added].some((userId) => !finished.has(userId));
    if (isOther) means = { runId: run.id, added: new Set(), ofUsers: runningMeans(run.plan.arms, primaryMetric(run)) };
    for (const userId of finished) {
      if (!means.added.has(userId)) means.ofUsers.add(growth.userValues(userId));
      means.added.add(userId);
    }
  };

  return (now = Date.now()) => {
    const run = findRunByName(database, runName);
    const { name, suite, status, startedAt, dataset } = run;
    const growth = new RunProgressRepository(database, run.id);
    const { turns, last, faults } = growth.count();
    const finished = new UserClaimRepository(database, run.id).finished();
    const times = status === 'running' && last !== null ? growth.latestTimes(last, ratedTurns) : [];
    updateMeans(run, growth, finished);
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
      arms: means.ofUsers.arms(),
      faults: { ...countFaults(faults), latest: faults.length === 0 ? [] : latestFaults(growth, hidden(run) !== null) },
    };
  };
}

function latestFaults(growth: RunProgressRepository, areHidden: boolean) {
  const latest = growth.latestFaults(shownFaults);
  return latest.map((turn) => (areHidden && turn.error !== null ? { ...turn, error: 'failed' } : turn));
}

const primaryMetric = ({ dataset, plan }: RunRecord) => metricsOfRun({ dataset, metrics: plan.metrics ?? [] }).primary;

/** The progress of a run; `unknownQuality` is the reason why answers are not judged, or null. */
export type RunProgress = ReturnType<ReturnType<typeof runProgressReader>>;

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
