import type { z } from 'zod';
import { runProbes } from './run-probes.ts';
import { runEnvironment, runPlan, runRecord } from './run-record.ts';
import { object } from './zod-helpers.ts';

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
