import { isDeepStrictEqual } from 'node:util';
import { BenchError } from '../../../config/bench-error.ts';
import type { RunRecord } from '../../../records/run-record.ts';
import { placeOfCompute } from '../../analysis/place-of-compute.ts';
import { type Shard, shardOf } from '../shard.ts';

/** A shard as its file holds it. */
export interface StoredShard {
  /** As it was named. */
  readonly file: string;
  readonly run: RunRecord;
}

/** Of the code and the build, what turns may depend on. */
const VERSIONS = ['benchVersion', 'gitCommit', 'lockfileSha256', 'node', 'engine', 'build', 'stateIdentity'] as const;

/** Which part of a run it is. @throws BenchError `bad-option` for a run that is no shard */
export function partOf({ file, run }: StoredShard): Shard {
  const { shard } = run.plan.settings as { readonly shard?: string };
  if (shard !== undefined && run.plan.users !== undefined) return shardOf(shard);
  throw new BenchError('bad-option', `${file}: run "${run.name}" is no shard`, 'shards are made by bench --shard i/n');
}

/** Of a run, all that its shards must have in common, by what it is called. */
function decisive(shard: StoredShard): (readonly [what: string, value: unknown])[] {
  const { model, embedder, dataset, retriever, environment, plan, seed, suite } = shard.run;
  const { shard: _, ...settings } = plan.settings as Readonly<Record<string, unknown>>;
  return [
    ...VERSIONS.map((key) => [`version (${key})`, (environment as Readonly<Record<string, unknown>>)[key]] as const),
    ['schema of records', shard.run.schemaVersion],
    ['suite', suite],
    ['model', model],
    ['embedder', embedder],
    ['data set', dataset],
    ['retriever', retriever],
    ['seed', seed],
    ['arms', plan.arms],
    ...[...Object.keys(settings)].sort().map((key) => [`setting ${key}`, settings[key]] as const),
    ['settings', Object.keys(settings).sort()],
    ['metrics', plan.metrics],
    ['arms that the model cannot run', plan.armsNotRun],
    ['users of the plan', plan.users],
    ['number of shards', partOf(shard).of],
    ['number of threads', environment.threads],
    ['device', placeOfCompute(environment)],
  ];
}

/** @throws BenchError `bad-option` for the first thing in which two shards differ */
export function requireOnePlan([first, ...others]: readonly [StoredShard, ...StoredShard[]]): void {
  const wanted = decisive(first);
  for (const other of others) {
    const found = new Map(decisive(other));
    const differing = wanted.find(([what, value]) => !isDeepStrictEqual(value, found.get(what)));
    if (differing === undefined) continue;
    throw new BenchError(
      'bad-option',
      `${first.file} and ${other.file} differ in: ${differing[0]}`,
      'merge shards of one plan, made with the same version, model and options',
    );
  }
}
