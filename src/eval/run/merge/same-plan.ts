import { isDeepStrictEqual } from 'node:util';
import { BenchError } from '../../../base/bench-error.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import { placeOfCompute } from '../../analysis/place-of-compute.ts';
import { shardOf } from '../shard.ts';

/** A part of a run as somebody holds it. */
export interface StoredPart {
  /** As it was named. */
  readonly file: string;
  readonly run: RunRecord;
}

/** Of the code and the build, what turns may depend on. */
const VERSIONS = ['benchVersion', 'gitCommit', 'lockfileSha256', 'node', 'engine', 'build', 'stateIdentity'] as const;
/** Settings that name a place of the machine, or a part of the run: data are compared by their bytes. */
const PLACES = ['dataset', 'dataFile', 'errata', 'allowRemote', 'shard'];

/** All that the turns of a run depend on, by what it is called. */
export function decisiveFacts(
  run: Omit<RunRecord, 'id' | 'name' | 'status' | 'probes' | 'startedAt' | 'finishedAt'>,
): (readonly [what: string, value: unknown])[] {
  const { model, embedder, dataset, retriever, environment, plan, seed, suite } = run;
  const settings: Readonly<Record<string, unknown>> = plan.settings;
  const keys = Object.keys(settings).filter((key) => !PLACES.includes(key));
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
    ['arms that the model cannot run', plan.armsNotRun],
    ['users of the plan', plan.users],
    ['number of shards', plan.settings.shard === undefined ? undefined : shardOf(plan.settings.shard).of],
    ['number of threads', environment.threads],
    ['device', placeOfCompute(environment)],
  ];
}

/** The first thing in which two runs differ, of all that turns depend on; undefined where they are of one plan. */
export function firstDifference(
  wanted: Parameters<typeof decisiveFacts>[0],
  other: Parameters<typeof decisiveFacts>[0],
): string | undefined {
  const found = new Map(decisiveFacts(other));
  return decisiveFacts(wanted).find(([what, value]) => !isDeepStrictEqual(value, found.get(what)))?.[0];
}

/** @throws BenchError `bad-option` for the first thing in which two parts differ */
export function requireOnePlan([first, ...others]: readonly [StoredPart, ...StoredPart[]]): void {
  for (const other of others) {
    const differing = firstDifference(first.run, other.run);
    if (differing === undefined) continue;
    throw new BenchError(
      'bad-option',
      `${first.file} and ${other.file} differ in: ${differing}`,
      'merge shards of one plan, made with the same version, model and options',
    );
  }
}
