import { z } from 'zod';
import { armTraits } from './arm-traits.ts';
import {
  armNotRun,
  datasetDescription,
  embedderDescription,
  metricFields,
  modelDescription,
  retrieverDescription,
} from './run-description.ts';
import { runProbes } from './run-probes.ts';
import { schemaVersion } from './schema-version.ts';
import { list, numbers, object, texts } from './zod-helpers.ts';

const entries = z.record(z.string(), z.unknown()).readonly();

/** Everything besides models and data that the turns of a run depend on. */
const runPlan = object({
  /** In the order of the run. */
  arms: list(armTraits),
  /** Arms of the suite that the model could not run. */
  armsNotRun: list(armNotRun),
  ...metricFields,
  /** Only for a shard: all users of the whole run in order, with their numbers of turns. */
  users: list(object({ userId: z.string(), turns: z.number() })).exactOptional(),
  /** Keys of the options that the command gave; missing in older runs. */
  given: list(z.string()).exactOptional(),
  /** The effective options, in their order. */
  settings: entries.and(
    z.object({
      /** The suites of the command; the run is one of them. */
      suite: list(z.string()),
      /** The largest loss at which quality still counts as kept, in points. */
      margin: z.number(),
      /** Which part of a run this is, `i/n`; missing for a whole run. */
      shard: z.string().exactOptional(),
      /** Number of processes that run turns at the same time; missing for one. */
      workers: z.number().exactOptional(),
    }),
  ),
});

/** Machine and code; further fields are the git commit, hash of the lockfile, versions, memory. */
const runEnvironment = entries.and(
  z.object({
    ...texts('platform', 'cpu'),
    ...numbers('cores', 'threads'),
    /** The device that computed the model; missing in older runs, which used the CPU. */
    compute: object({
      backend: z.string(),
      devices: list(z.string()),
      ...numbers('memoryBytes', 'layers'),
      flashAttention: z.boolean(),
    })
      .nullable()
      .exactOptional(),
    /** The work tree had changes that are not in the commit; null outside a work tree. */
    gitDirty: z.boolean().nullable(),
  }),
);

export const runStatuses = ['running', 'finished', 'interrupted', 'failed'] as const;

/** One run of the bench, with everything needed to repeat it. */
export const runRecord = object({
  schemaVersion: z.literal(schemaVersion),
  ...texts('id', 'name', 'suite'),
  status: z.enum(runStatuses),
  seed: z.number(),
  plan: runPlan,
  environment: runEnvironment,
  model: modelDescription,
  embedder: embedderDescription,
  dataset: datasetDescription,
  retriever: retrieverDescription,
  /** Null until the self-tests have passed. */
  probes: runProbes.nullable(),
  /** Milliseconds since 1970. */
  startedAt: z.number(),
  finishedAt: z.number().nullable(),
});

/** A run as the database stores it: plan, environment, findings, status. */
export type RunRecord = z.output<typeof runRecord>;

/** A user of a run's plan. */
export interface PlannedUser {
  readonly userId: string;
  /** Place among the users of the plan, from 0. */
  readonly position: number;
  readonly turns: number;
}

/** The plan of a run for workers of a queue: everything its turns depend on, by name and hash, without paths. */
export const queuedPlan = runRecord
  .unwrap()
  .omit({ id: true, status: true, probes: true, startedAt: true, finishedAt: true })
  .extend({ plan: runPlan.unwrap().required({ users: true }).readonly() })
  .readonly();

/** What a queue stores about a worker: its machine and build, and its self-tests. */
export const queueWorker = object({ environment: runEnvironment, probes: runProbes });

export type QueuedPlan = z.output<typeof queuedPlan>;
export type QueueWorker = z.output<typeof queueWorker>;
