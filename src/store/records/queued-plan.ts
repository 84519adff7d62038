import type { z } from 'zod';
import { object } from './schemas.ts';
import { runPlan, runRecord } from './run-record.ts';
import { runProbes } from './run-probes.ts';

const { schemaVersion, name, suite, seed, environment, model, embedder, dataset, retriever } = runRecord.unwrap().shape;

/** A run that workers of a queue shall make: all that its turns depend on, by name and hash, and no place of any machine. */
export const queuedPlan = object({
  ...{ schemaVersion, name, suite, seed, environment, model, embedder, dataset, retriever },
  plan: runPlan.unwrap().required({ users: true }).readonly(),
});

/** A worker as it stands in a queue: its machine and build, and its self-tests. */
export const queueWorker = object({ environment, probes: runProbes });

export type QueuedPlan = z.output<typeof queuedPlan>;
export type QueueWorker = z.output<typeof queueWorker>;
