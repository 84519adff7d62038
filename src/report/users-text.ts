import { LEAST_USERS } from '../eval/analysis/statistics/verdict.ts';
import type { RunResults } from '../store/records/results.ts';

type Run = Pick<RunResults['run'], 'dataset'>;

/** The unit that intervals are over: `over users`, or, of a single one, its questions. */
export function intervalsOver({ dataset: { users } }: Run): string {
  return users === 1 ? 'over the questions of one user' : 'over users';
}

/** The reason why a run has no verdicts; undefined where it has users enough. */
export function tooFewUsers({ dataset: { users } }: Run): string | undefined {
  if (users >= LEAST_USERS) return undefined;
  return users === 1
    ? 'one user: intervals are over its questions, and nothing is said beyond it'
    : `${users} users, and fewer than ${LEAST_USERS} stand for no others`;
}
