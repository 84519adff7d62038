import type { RunResults } from '../store/records/results.ts';

/** How far an unfinished run has come: `UNFINISHED: 3 of 20 users, 1234 of 2640 turns`. */
export function progressText({ users, ofUsers, turns, ofTurns }: NonNullable<RunResults['run']['progress']>): string {
  return `UNFINISHED: ${users} of ${ofUsers} users, ${turns} of ${ofTurns} turns`;
}

/** The reason why the numbers of a run must not be quoted; undefined if it is finished and no check failed. */
export function lackOfProof({ run, checks }: Pick<RunResults, 'run' | 'checks'>): string | undefined {
  const failed = checks.filter(({ status }) => status === 'failed').map(({ check }) => check);
  const shard = run.settings['shard'] as string | undefined;
  const lacks = [
    failed.length > 0 && `NOT PROVEN: ${failed.length === 1 ? 'check' : 'checks'} ${failed.join(', ')} failed`,
    run.progress !== undefined && progressText(run.progress),
    shard !== undefined && `SHARD ${shard}: a part of the run`,
  ].filter((lack) => lack !== false);
  if (lacks.length > 0) return lacks.join('; ');
  return run.status === 'finished' ? undefined : `NOT COMPLETE: the run was ${run.status}`;
}

/** `Unproven: negative controls (none has 20 closed items, 30 needed).`: every undecided check; undefined if all were decided. */
export function undecidedChecks({ checks }: Pick<RunResults, 'checks'>): string | undefined {
  const undecided = checks
    .filter(({ status }) => status === 'undecided')
    .map(({ check, evidence }) => `${check} (${evidence.split(/[:;]/, 1)[0]!})`);
  return undecided.length === 0 ? undefined : `Unproven: ${undecided.join('; ')}.`;
}

/** The title of a table or figure, marked if the numbers must not be quoted. */
export function titleWithProof(title: string, results: Pick<RunResults, 'run' | 'checks'>): string {
  const lack = lackOfProof(results);
  return lack === undefined ? title : `${title} (${lack})`;
}
