import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { BenchConfig, SuiteName } from '../../../config/bench-config.ts';
import type { SelectEngine } from '../../../engine/engine-adapter.ts';
import type { BenchDatabase } from '../../../store/database.ts';
import type { CellsSelfTest } from '../../../store/records/run-probes.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import { RunRepository } from '../../../store/run-repository.ts';
import { UserClaimRepository } from '../../../store/user-claim-repository.ts';
import { openRunDatabase, openRunResources } from '../open-run-resources.ts';
import { prepareSuite } from '../plan/prepare-suite.ts';
import type { BenchHooks } from '../bench-hooks.ts';
import type { Suite } from '../suite.ts';
import { rowClaims } from './claims.ts';
import { runClaimedWork } from './run-claimed-work.ts';

const GRACE_MS = 500;
/** Folder of a run's workers, inside the folder of its report; deleted when they end. */
const WORKERS_FOLDER = 'workers';
/** Claims are checked this often even if no worker reports anything. */
const CHECK_MS = 1000;

export interface WorkerTask {
  readonly suite: SuiteName;
  readonly run: string;
  readonly folder: string;
  /** From 2: the process that makes the run is the first. */
  readonly number: number;
  readonly worker: string;
  readonly config: BenchConfig;
}

interface WorkerEvents {
  readonly onTurn: (turns: number) => void;
  readonly onUser: () => void;
}

interface RunningWorker {
  /** Lets the worker take turns, after the self-tests; until then it loads its model, claims a user and warms up. */
  begin(): void;
  stop(): void;
  kill(): void;
  /** Resolves to null if the worker finished, else to the reason; never rejects. */
  readonly ended: Promise<string | null>;
}

export type StartWorker = (task: WorkerTask, events: WorkerEvents) => RunningWorker;

interface Member {
  readonly worker: RunningWorker;
  isWorking: boolean;
  finished: number;
  current: number;
}

interface WorkersSettings extends Pick<WorkerTask, 'config' | 'suite' | 'folder'> {
  readonly startWorker: StartWorker | undefined;
  readonly hooks: Pick<BenchHooks, 'onNote' | 'signal'>;
}

export class Workers implements AsyncDisposable {
  /** Notes for readers of the run: workers that ended early. */
  readonly notes: string[] = [];
  readonly #members: Member[] = [];
  readonly #users: UserClaimRepository;
  readonly #folder: string;
  readonly #hooks: Pick<BenchHooks, 'onNote' | 'signal'>;
  readonly #stop = (): void => this.#members.forEach(({ worker }) => worker.stop());
  /** True once this process stops the workers itself: their end is then not reported. */
  #isOver = false;
  /** Why the users of an ended worker could not be freed, if so. */
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;
  #onTurn: () => void = () => undefined;

  constructor(database: BenchDatabase, { id, dataset }: RunRecord, settings: WorkersSettings) {
    const { startWorker, hooks, ...task } = settings;
    this.#users = new UserClaimRepository(database, id);
    this.#folder = join(task.folder, WORKERS_FOLDER);
    this.#hooks = hooks;
    const { workers = 1 } = task.config;
    const count = workers === 'auto' ? 1 : Math.min(workers, dataset.users);
    if (startWorker === undefined || count === 1) return;
    // Deletes what killed workers left.
    rmSync(this.#folder, { recursive: true, force: true });
    hooks.signal?.addEventListener('abort', this.#stop);
    for (let number = 2; number <= count; number++) this.#start(startWorker, { ...task, run: id, number });
  }

  get size(): number {
    return this.#members.length + 1;
  }

  get turns(): number {
    return this.#members.reduce((sum, { finished, current }) => sum + finished + current, 0);
  }

  /** Lets the workers take turns. @param onTurn called after each turn of a worker */
  begin(onTurn: () => void): void {
    this.#onTurn = onTurn;
    for (const { worker } of this.#members) worker.begin();
  }

  /** Resolves when a worker has finished a user, or ended and so freed its user. @throws BenchError if that could not be stored */
  async changed(signal: AbortSignal): Promise<void> {
    if (this.#members.some(({ isWorking }) => isWorking)) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      await Promise.race([woken, wait(CHECK_MS)]);
    }
    signal.throwIfAborted();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#members.length === 0) return;
    this.#isOver = true;
    this.#hooks.signal?.removeEventListener('abort', this.#stop);
    this.#stop();
    const all = Promise.all(this.#members.map(({ worker }) => worker.ended));
    await Promise.race([all, wait(GRACE_MS)]);
    for (const { worker } of this.#members) worker.kill();
    await all;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #start(startWorker: StartWorker, task: Omit<WorkerTask, 'worker'>): void {
    const name = randomUUID();
    const events: WorkerEvents = {
      onTurn: (turns) => {
        member.current = turns;
        this.#onTurn();
      },
      onUser: () => {
        member.finished += member.current;
        member.current = 0;
        this.#wake();
      },
    };
    const worker = startWorker({ ...task, worker: name }, events);
    const member: Member = { worker, isWorking: true, finished: 0, current: 0 };
    this.#members.push(member);
    const noteEnd = (why: string | null): void => {
      member.isWorking = false;
      member.current = 0;
      if (why !== null && !this.#isOver && this.#hooks.signal?.aborted !== true) {
        const note = `worker ${task.number} ended early (${why}): other workers took its users`;
        this.notes.push(note);
        this.#hooks.onNote?.(note);
      }
      // Another process takes the current user again, from the first turn.
      this.#users.release(name);
    };
    void worker.ended
      .then(noteEnd)
      .catch((error: unknown) => (this.#failure = { error }))
      .finally(() => this.#wake());
  }
}

export interface WorkerHooks extends WorkerEvents {
  readonly begun: Promise<void>;
  readonly signal: AbortSignal;
}

/** Takes turns of another process's run. @throws BenchError for other models or data; the reason of `signal` */
export async function runWorker(
  { run: id, folder, number, worker, config: settings }: WorkerTask,
  suite: Suite,
  selectEngine: SelectEngine,
  { begun, onTurn, onUser, signal }: WorkerHooks,
): Promise<void> {
  using database = openRunDatabase(settings);
  const runs = new RunRepository(database);
  const run = runs.findById(id)!;
  const place = { folder: join(folder, WORKERS_FOLDER, String(number)), suffix: `/worker-${number}` };
  const engines = selectEngine(settings);
  const task = { suite, begun: run, folder, place, engines, settings };
  await using prepared = await prepareSuite(task, { signal });
  await using open = await openRunResources(prepared, database, run);
  const claims = rowClaims(database, id, open.claimed, { worker, signal });
  const selfTested = async (): Promise<CellsSelfTest | undefined> => {
    await begun;
    signal.throwIfAborted();
    return runs.findById(id)!.probes!.cells;
  };
  await runClaimedWork({ ...open.bench, claims }, selfTested, { onTurn, onUser, warmsUp: true });
}
