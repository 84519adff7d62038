import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BenchError } from '../../../base/bench-error.ts';
import { type BenchDatabase, openDatabase } from '../../../store/database.ts';
import type { RegisteredWorker, PlannedRun, QueueReader } from '../../../store/queue/queue-reader.ts';
import type { RunResults } from '../../../store/records/run-results.ts';
import type { IsolationProbe, RunProbes } from '../../../store/records/run-probes.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import { isolationBundle, userBundle } from '../../../store/records/worker-result-bundle.ts';
import { RunRepository } from '../../../store/run-repository.ts';
import { TokenPieceRepository } from '../../../store/token-piece-repository.ts';
import { writeUserRows } from '../../../store/transfer-user-rows.ts';
import { mergeRunParts, type RunPart } from '../merge-run-parts.ts';
import { requireUnchanged } from '../plan/compare-plans.ts';
import { addBooks } from '../run-level-results.ts';
import { bundleRows, unpackBundle, type WorkerState } from './pack-results.ts';
import { ISOLATION_POSITION, planUnits } from './plan-queued-run.ts';

interface WorkerPart {
  readonly worker: RegisteredWorker;
  readonly run: RunRecord;
  /** State at the last stored bundle; its counts cover everything that the worker has done. */
  last: { readonly state: WorkerState; readonly at: Date };
  profile: RunProbes['profile'];
  users: number;
}

/** Merges the results in a queue, one part per worker, through a temporary file. @throws BenchError */
export async function mergeQueue(target: BenchDatabase, reader: QueueReader, planned: PlannedRun): Promise<RunResults> {
  requireUnchanged(planned);
  const { name } = planned.plan;
  const folder = mkdtempSync(join(dirname(target.path), 'merge-'));
  using _folder = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
  using staged = openDatabase({ path: join(folder, 'parts.sqlite') });
  const { parts, isolation } = await stagedParts(staged, reader, planned);
  const [first, ...others] = parts.map((part) => runPart(part, isolation ?? null, staged, name));
  const start = 'dki-bench queue worker --queue …';
  if (first === undefined) {
    throw new BenchError('bad-option', `run "${name}": no results are stored yet`, `start workers: ${start}`);
  }
  const workers = parts.filter(({ users }) => users > 0).length;
  return mergeRunParts(target, [first, ...others], {
    notes: [`merged from ${workers} workers of a queue`],
    toComplete: `start a worker for them: ${start}; dki-bench queue status shows those that failed`,
    requireWhole: () => {
      const isProbed = planUnits(planned.plan).some(({ position }) => position === ISOLATION_POSITION);
      if (isolation !== undefined || !isProbed) return;
      const message = `run "${name}": the isolation probe is missing`;
      throw new BenchError('bad-option', message, `start a worker for it: ${start}`);
    },
    settings: workers > 1 ? { workers } : {},
  });
}

/** Writes all bundles into a database, under one run per worker. */
async function stagedParts(staged: BenchDatabase, reader: QueueReader, planned: PlannedRun) {
  const { schemaVersion: _, ...plan } = planned.plan;
  const runs = new RunRepository(staged);
  const pieces = new TokenPieceRepository(staged);
  const workers = new Map((await reader.workers(planned)).map((worker) => [worker.id, worker]));
  const parts = new Map<string, WorkerPart>();
  const addState = (id: string, state: WorkerState, at: Date): WorkerPart => {
    let part = parts.get(id);
    if (part === undefined) {
      const worker = workers.get(id)!;
      const begun = { ...plan, name: `${plan.name}/${id}`, environment: worker.environment };
      const run = runs.create(begun, worker.beganAt.getTime());
      part = { worker, run, last: { state, at }, profile: worker.probes.profile, users: 0 };
      parts.set(id, part);
    }
    if (at > part.last.at) part.last = { state, at };
    part.profile = addBooks(part.profile, state.share.books);
    return part;
  };
  let isolation: IsolationProbe | null | undefined;
  for await (const { position, content, worker, storedAt } of reader.bundles(planned)) {
    if (position === ISOLATION_POSITION) {
      const bundle = await unpackBundle(isolationBundle, content, 'the isolation probe');
      ({ isolation } = bundle);
      addState(worker, bundle, storedAt);
      continue;
    }
    const { userId } = plan.plan.users[position]!;
    const bundle = await unpackBundle(userBundle, content, `user ${userId}`);
    const part = addState(worker, bundle, storedAt);
    part.users++;
    writeUserRows(staged, { runId: part.run.id, userId, position, worker }, bundleRows(bundle));
    pieces.add(plan.model.sha256 || plan.model.name, new Map(bundle.pieces));
  }
  return { parts: [...parts.values()], isolation };
}

function runPart(
  { worker, run, last: { state, at }, profile }: WorkerPart,
  isolation: IsolationProbe | null,
  database: BenchDatabase,
  name: string,
): RunPart {
  const wallMs = profile.wallMs + at.getTime() - worker.beganAt.getTime();
  const probes: RunProbes = {
    ...worker.probes,
    ...state.share.counts,
    isolation,
    load: state.load,
    profile: { ...profile, wallMs },
    ...(state.audit === undefined ? {} : { audit: state.audit }),
  };
  const finished = { name, status: 'finished', probes, finishedAt: at.getTime() } as const;
  const file = `worker ${worker.host} (process ${worker.pid})`;
  return { file, source: worker.id, run: { ...run, ...finished }, database };
}
