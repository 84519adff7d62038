import { present } from '../base/present.ts';
import type { RunResults } from '../store/records/run-results.ts';
import { metricsOfRun, successMetric } from '../eval/analysis/metrics/metric-selection.ts';

/** What shows if the numbers of a run may be quoted. */
type Provable = Pick<RunResults, 'run' | 'checks'> & Partial<Pick<RunResults, 'arms'>>;

/** The progress of an unfinished run: `UNFINISHED: 3 of 20 users, 1234 of 2640 turns`. */
export function progressText({ users, ofUsers, turns, ofTurns }: NonNullable<RunResults['run']['progress']>): string {
  return `UNFINISHED: ${users} of ${ofUsers} users, ${turns} of ${ofTurns} turns`;
}

/** Fewer items do not show that a model answers nothing. */
const FLOOR_ITEMS = 20;

/**
 * A caveat if the model answers nothing even with the right memories, so that quality cannot be compared. Without an oracle, all
 * arms that retrieve memories must answer nothing.
 */
export function answersNothing({ run, arms = [] }: Omit<Provable, 'checks'>): string | undefined {
  const { name, label, direction } = successMetric(metricsOfRun(run));
  const oracle = arms.filter(({ arm }) => arm === 'oracle');
  const given = oracle.length > 0 ? oracle : arms.filter(({ traits }) => traits.retrieves !== 'nothing');
  const values = given.flatMap(({ metrics }) => metrics[name] ?? []);
  const [value] = values;
  if (run.unknownQuality !== null || value === undefined || values.some(({ mean }) => mean > 0)) return undefined;
  if (direction === 'lower' || value.n < FLOOR_ITEMS) return undefined;
  const who = oracle.length > 0 ? 'oracle, given the right memories, has' : 'all arms with memories have';
  return `NO ANSWERS: ${who} ${label} 0 on ${value.n} items`;
}

/** The reason why the numbers of a run must not be quoted; undefined if it is finished and no check failed. */
export function lackOfProof(results: Provable): string | undefined {
  const { run, checks } = results;
  const failed = checks.filter(({ status }) => status === 'failed').map(({ check }) => check);
  const shard = run.settings['shard'] as string | undefined;
  const lacks = present([
    failed.length > 0 && `NOT PROVEN: ${failed.length === 1 ? 'check' : 'checks'} ${failed.join(', ')} failed`,
    answersNothing(results),
    run.progress !== undefined && progressText(run.progress),
    shard !== undefined && `SHARD ${shard}: only a part of the run`,
  ]);
  if (lacks.length > 0) return lacks.join('; ');
  return run.status === 'finished' ? undefined : `NOT COMPLETE: the run was ${run.status}`;
}

/** `Unproven: negative controls (none has 3 closed items, 5 needed).`: every undecided check; undefined if all were decided. */
export function undecidedChecks({ checks }: Pick<RunResults, 'checks'>): string | undefined {
  const undecided = checks
    .filter(({ status }) => status === 'undecided')
    .map(({ check, evidence }) => `${check} (${evidence.split(/[:;]/, 1)[0]!})`);
  return undecided.length === 0 ? undefined : `Unproven: ${undecided.join('; ')}.`;
}

/** The title of a table or figure, with the reason in parentheses if its numbers must not be quoted. */
export function titleWithProof(title: string, results: Provable): string {
  const lack = lackOfProof(results);
  return lack === undefined ? title : `${title} (${lack})`;
}
