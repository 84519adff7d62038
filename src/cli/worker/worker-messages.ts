import type { WorkerTask } from '../../eval/run/workers/worker-port.ts';

/** Messages of the process that makes a run to a worker: first its task, then that it may begin. */
export type ToWorker = { readonly task: WorkerTask } | { readonly begin: true };

/** Messages of a worker to it: turns of the user whom it asks, a user who is done, why it ends before its time. */
export type FromWorker = { readonly turns: number } | { readonly user: true } | { readonly failure: string };
