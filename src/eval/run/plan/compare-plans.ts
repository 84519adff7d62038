import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { BenchError } from '../../../base/bench-error.ts';
import type { PlannedRun } from '../../../store/queue/queue-reader.ts';
import type { QueuedPlan, RunRecord } from '../../../store/records/run-record.ts';
import { deviceName } from '../../analysis/device-name.ts';
import { describeEnvironment } from './new-run-record.ts';
import { parseShard } from '../../analysis/planned-sample.ts';
import type { PlanUser } from './plan-users.ts';

type PlanFacts = Omit<RunRecord, 'id' | 'name' | 'status' | 'probes' | 'startedAt' | 'finishedAt'>;

/** Versions that are known before anything is loaded. */
const CODE = ['benchVersion', 'gitCommit', 'lockfileSha256', 'node'] as const;
/** Versions that turns may depend on, besides the plan. */
const VERSIONS = [...CODE, 'engine', 'build', 'stateIdentity'];
/** Settings that may differ between machines and shards; data are compared by their hash. */
const LOCAL_SETTINGS = ['dataset', 'dataFile', 'errata', 'allowRemote', 'shard'];

function decisiveFacts(run: PlanFacts): (readonly [what: string, value: unknown])[] {
  const { model, embedder, dataset, retriever, environment, plan, seed, suite } = run;
  const settings: Readonly<Record<string, unknown>> = plan.settings;
  const keys = Object.keys(settings).filter((key) => !LOCAL_SETTINGS.includes(key));
  return [
    ...VERSIONS.map((key) => [`version (${key})`, (environment as Readonly<Record<string, unknown>>)[key]] as const),
    ['schema of records', run.schemaVersion],
    ['suite', suite],
    ['model', model],
    ['embedder', embedder],
    ['data set', dataset],
    ['retriever', retriever],
    ['seed', seed],
    ['arms', plan.arms],
    ...keys.sort().map((key) => [`setting ${key}`, settings[key]] as const),
    ['settings', keys],
    ['metrics', plan.metrics],
    ['version of the metrics', plan.metricsVersion],
    ['arms that the model cannot run', plan.armsNotRun],
    ['users of the plan', plan.users],
    ['number of shards', plan.settings.shard === undefined ? undefined : parseShard(plan.settings.shard).of],
    ['number of threads', environment.threads],
    ['device', deviceName(environment)],
  ];
}

/** Name of the first difference between two plans on which turns depend; undefined if there is none. */
export function firstDifference(wanted: PlanFacts, other: PlanFacts): string | undefined {
  const found = new Map(decisiveFacts(other));
  return decisiveFacts(wanted).find(([what, value]) => !isDeepStrictEqual(value, found.get(what)))?.[0];
}

/** The sha-256 of everything that the turns of a plan depend on, in hex; independent of the order of fields. */
export function hashPlan(plan: QueuedPlan): string {
  const canonical = JSON.stringify(decisiveFacts(plan), (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
  return createHash('sha256').update(canonical).digest('hex');
}

function refused({ name }: QueuedPlan, what: string, hint: string): BenchError {
  return new BenchError('bad-option', `run "${name}" was planned with another ${what}`, hint);
}

/** @throws BenchError `bad-option` if the plan does not have the stored hash */
export function requireUnchanged({ plan, planId: stored }: PlannedRun): void {
  if (hashPlan(plan) === stored) return;
  throw new BenchError('bad-option', `the plan of run "${plan.name}" was changed`, 'plan the run under another name');
}

/** @throws BenchError `bad-option` for a plan of another version of the program or of Node */
export function requireSameVersion(plan: QueuedPlan): void {
  const own: Readonly<Record<string, unknown>> = describeEnvironment();
  const planned: Readonly<Record<string, unknown>> = plan.environment;
  const differing = CODE.find((key) => own[key] !== planned[key]);
  if (differing === undefined) return;
  const [theirs, here] = [planned, own].map((one) => String(one[differing]));
  throw refused(plan, `version (${differing} ${theirs}, here ${here})`, 'run the version that planned it');
}

/** @throws BenchError `bad-option` if engine, build, number of threads or device differ from the plan */
export function requireSameBuild(plan: QueuedPlan, environment: QueuedPlan['environment']): void {
  const differing = firstDifference(plan, { ...plan, environment });
  if (differing !== undefined) throw refused(plan, differing, 'run the engine that planned it');
}

/** @throws BenchError `bad-option` if the users differ from those of the plan */
export function requireSameUsers(plan: QueuedPlan, planned: readonly PlanUser[]): void {
  const users = planned.map(({ userId, turns }) => ({ userId, turns }));
  if (isDeepStrictEqual(users, plan.plan.users)) return;
  throw refused(plan, 'list of users', 'run the version that planned it');
}
