import type { z } from 'zod';
import { runProbes } from './run-probes.ts';
import { runEnvironment, runPlan, runRecord } from './run-record.ts';
import { object } from './zod-helpers.ts';

/** A run for the workers of a queue: all that its turns depend on, by name and hash, without paths. */
export const queuedPlan = runRecord
  .unwrap()
  .omit({ id: true, status: true, probes: true, startedAt: true, finishedAt: true })
  .extend({ plan: runPlan.unwrap().required({ users: true }).readonly() })
  .readonly();

/** A worker as it stands in a queue: its machine and build, and its self-tests. */
export const queueWorker = object({ environment: runEnvironment, probes: runProbes });

export type QueuedPlan = z.output<typeof queuedPlan>;
export type QueueWorker = z.output<typeof queueWorker>;
