import { isDeepStrictEqual } from 'node:util';
import { BenchError } from '../../../base/bench-error.ts';
import type { PlannedRun } from '../../../store/queue/queue-reader.ts';
import type { QueuedPlan } from '../../../store/records/queued-plan.ts';
import { describeEnvironment } from '../environment.ts';
import { firstDifference } from '../merge/same-plan.ts';
import type { UserOfPlan } from '../users-of-plan.ts';
import { planIdOf } from './plan-id.ts';

/** Of the code, what is known before anything is loaded. */
const CODE = ['benchVersion', 'gitCommit', 'lockfileSha256', 'node'] as const;

function refused({ name }: QueuedPlan, what: string, hint: string): BenchError {
  return new BenchError('bad-option', `run "${name}" was planned with another ${what}`, hint);
}

/** @throws BenchError `bad-option` for a plan that is not the one that was made: its hash says otherwise */
export function requireUnchanged({ plan, planId }: PlannedRun): void {
  if (planIdOf(plan) === planId) return;
  throw new BenchError('bad-option', `the plan of run "${plan.name}" was changed`, 'plan the run under another name');
}

/** @throws BenchError `bad-option` for a plan of another version of the program, or of Node */
export function requireSameVersion(plan: QueuedPlan): void {
  const own: Readonly<Record<string, unknown>> = describeEnvironment();
  const planned: Readonly<Record<string, unknown>> = plan.environment;
  const differing = CODE.find((key) => own[key] !== planned[key]);
  if (differing === undefined) return;
  const [theirs, here] = [planned, own].map((one) => String(one[differing]));
  throw refused(plan, `version (${differing} ${theirs}, here ${here})`, 'run the version that planned it');
}

/** @throws BenchError `bad-option` for an engine, a build, threads or a device that turns could depend on */
export function requireSameBuild(plan: QueuedPlan, environment: QueuedPlan['environment']): void {
  const differing = firstDifference(plan, { ...plan, environment });
  if (differing !== undefined) throw refused(plan, differing, 'run the engine that planned it');
}

/** @throws BenchError `bad-option` for other users than those of the plan */
export function requireSameUsers(plan: QueuedPlan, planned: readonly UserOfPlan[]): void {
  const users = planned.map(({ userId, turns }) => ({ userId, turns }));
  if (!isDeepStrictEqual(users, plan.plan.users))
    throw refused(plan, 'list of users', 'run the version that planned it');
}
