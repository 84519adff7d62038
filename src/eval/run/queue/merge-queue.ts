import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BenchError } from '../../../base/bench-error.ts';
import { type BenchDatabase, openDatabase } from '../../../store/database.ts';
import type { EnteredWorker, PlannedRun, QueueReader, StoredBundle } from '../../../store/queue/queue-reader.ts';
import { RunRepository } from '../../../store/run-repository.ts';
import { TokenPieceRepository } from '../../../store/token-piece-repository.ts';
import { writeUserRows } from '../../../store/user-rows.ts';
import type { RunResults } from '../../../store/records/results.ts';
import type { IsolationProbe, RunProbes } from '../../../store/records/run-probes.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import { rowsOf, unpackedIsolation, unpackedUser, type WorkerState } from './bundles.ts';
import { ISOLATION, unitsOf } from './plan-run.ts';
import { requireUnchanged } from './same-version.ts';
import { withBooks } from '../run-clock.ts';
import { mergeParts, type OpenPart } from '../merge/merge-parts.ts';
import { requireOnePlan } from '../merge/same-plan.ts';

/** The part of a worker in a run, as its bundles say. */
interface WorkerPart {
  readonly worker: EnteredWorker;
  /** In the staged database. */
  readonly run: RunRecord;
  /** Of the bundle that was stored last: its counts are of all that the worker has done. */
  last: { readonly state: WorkerState; readonly at: Date };
  profile: RunProbes['profile'];
  users: number;
}

/**
 * Puts a run of a queue together: what each worker has stored is a part of it. The parts lie in a file beside the database
 * until all are there, so that a run of any size fits into memory.
 * @throws BenchError `bad-option` for a plan that is not what it says; `database` for results that are damaged; as `mergeParts`
 */
export async function mergeQueue(target: BenchDatabase, reader: QueueReader, planned: PlannedRun): Promise<RunResults> {
  requireUnchanged(planned);
  const folder = mkdtempSync(join(dirname(target.path), 'merge-'));
  using _folder = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
  using staged = openDatabase({ path: join(folder, 'parts.sqlite') });
  const { parts, isolation } = await stagedParts(staged, reader, planned);
  const [first, ...others] = parts.map((part) => openPart(part, isolation ?? null, staged, planned));
  if (first === undefined) throw nothingThere(planned);
  const all = [first, ...others] as const;
  requireOnePlan(all);
  const workers = parts.filter(({ users }) => users > 0).length;
  return mergeParts(target, all, {
    notes: [`merged from ${workers} workers of a queue`],
    toComplete: 'start a worker for them: dki-bench worker --queue …; dki-bench status shows those that failed',
    requireWhole: () => {
      if (isolation !== undefined || unitsOf(planned.plan).every(({ position }) => position !== ISOLATION)) return;
      throw new BenchError(
        'bad-option',
        `run "${planned.plan.name}": the isolation probe is missing`,
        'start a worker for it: dki-bench worker --queue …',
      );
    },
    settings: workers > 1 ? { workers } : {},
  });
}

function nothingThere({ plan: { name } }: PlannedRun): BenchError {
  return new BenchError(
    'bad-option',
    `run "${name}": no results are stored yet`,
    'start workers: dki-bench worker --queue …',
  );
}

/** Writes all bundles into a database, each under the run of its worker. */
async function stagedParts(
  staged: BenchDatabase,
  reader: QueueReader,
  planned: PlannedRun,
): Promise<{ readonly parts: readonly WorkerPart[]; readonly isolation: IsolationProbe | null | undefined }> {
  const { schemaVersion: _, ...plan } = planned.plan;
  const { model } = plan;
  const runs = new RunRepository(staged);
  const pieces = new TokenPieceRepository(staged);
  const workers = new Map((await reader.workers(planned)).map((worker) => [worker.id, worker]));
  const parts = new Map<string, WorkerPart>();
  const partOf = ({ worker: id, storedAt }: StoredBundle, state: WorkerState): WorkerPart => {
    const worker = workers.get(id)!;
    const begun = { ...plan, name: `${plan.name}/${id}`, environment: worker.environment };
    const part = parts.get(id) ?? {
      ...{ worker, run: runs.create(begun, worker.beganAt.getTime()), last: { state, at: storedAt } },
      ...{ profile: worker.probes.profile, users: 0 },
    };
    if (storedAt > part.last.at) part.last = { state, at: storedAt };
    part.profile = withBooks(part.profile, state.share.books);
    parts.set(id, part);
    return part;
  };
  let isolation: IsolationProbe | null | undefined;
  for await (const bundle of reader.bundles(planned)) {
    const { position, content } = bundle;
    if (position === ISOLATION) {
      const found = await unpackedIsolation(content);
      ({ isolation } = found);
      partOf(bundle, found);
      continue;
    }
    const { userId } = plan.plan.users[position]!;
    const user = await unpackedUser(content, userId);
    const part = partOf(bundle, user);
    part.users++;
    writeUserRows(staged, { runId: part.run.id, userId, position, worker: part.worker.id }, rowsOf(user));
    pieces.add(model.sha256 || model.name, new Map(user.pieces));
  }
  return { parts: [...parts.values()], isolation };
}

/** The part of a worker, as if it had made a shard. */
function openPart(
  { worker, run, last: { state, at }, profile }: WorkerPart,
  isolation: IsolationProbe | null,
  database: BenchDatabase,
  { plan: { name } }: PlannedRun,
): OpenPart {
  const wallMs = profile.wallMs + at.getTime() - worker.beganAt.getTime();
  const probes: RunProbes = {
    ...worker.probes,
    ...state.share.counts,
    ...{ isolation, load: state.load, profile: { ...profile, wallMs } },
    ...(state.audit === undefined ? {} : { audit: state.audit }),
  };
  const finished = { status: 'finished', probes, finishedAt: at.getTime() } as const;
  return { file: `worker ${worker.host} (process ${worker.pid})`, run: { ...run, name, ...finished }, database };
}
