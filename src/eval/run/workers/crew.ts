import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { BenchDatabase } from '../../../store/database.ts';
import { RunUserRepository } from '../../../store/run-user-repository.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import { folderOfWorkers } from '../process-place.ts';
import type { BenchHooks } from '../progress.ts';
import type { RunningWorker, StartWorker, WorkerTask } from './worker-port.ts';

/** Time in which a worker that was asked to end may do so. */
const GRACE_MS = 500;
/** However silent the workers are, their claims are looked at so often. */
const LOOK_MS = 1000;

/** Things that all workers of a run have in common, and what starts them. */
export interface CrewOptions extends Pick<WorkerTask, 'config' | 'suite' | 'folder'> {
  readonly startWorker: StartWorker | undefined;
  readonly hooks: Pick<BenchHooks, 'onNote' | 'signal'>;
}

interface Member {
  readonly worker: RunningWorker;
  isWorking: boolean;
  /** Turns of users whom it has finished, and of the one whom it asks. */
  finished: number;
  underWay: number;
}

/** The other processes that take turns of a run beside the one that makes it; nobody where that takes all turns. */
export class Crew implements AsyncDisposable {
  /** Notes that a reader of the run must see: workers that ended before their time. */
  readonly notes: string[] = [];
  readonly #members: Member[] = [];
  readonly #users: RunUserRepository;
  readonly #folder: string;
  readonly #hooks: CrewOptions['hooks'];
  readonly #stop = (): void => {
    for (const { worker } of this.#members) worker.stop();
  };
  #wake: () => void = () => undefined;

  /** Starts the workers, which load their models, warm up and wait. */
  constructor(database: BenchDatabase, { id, dataset }: RunRecord, { startWorker, hooks, ...task }: CrewOptions) {
    this.#users = new RunUserRepository(database, id);
    this.#folder = folderOfWorkers(task.folder);
    this.#hooks = hooks;
    const { workers = 1 } = task.config;
    const count = workers === 'auto' ? 1 : Math.min(workers, dataset.users);
    if (startWorker === undefined || count === 1) return;
    // Of workers that were killed.
    rmSync(this.#folder, { recursive: true, force: true });
    hooks.signal?.addEventListener('abort', this.#stop);
    for (let number = 2; number <= count; number++) this.#start(startWorker, { ...task, run: id, number });
  }

  /** Processes that take turns, the one that makes the run included. */
  get size(): number {
    return this.#members.length + 1;
  }

  /** Turns that its workers have taken, those of users under way included. */
  get turns(): number {
    return this.#members.reduce((sum, { finished, underWay }) => sum + finished + underWay, 0);
  }

  /** Lets the workers take turns. @param onTurn called after every turn of theirs */
  begin(onTurn: () => void): void {
    this.#onTurn = onTurn;
    for (const { worker } of this.#members) worker.begin();
  }

  /** Resolves when a worker has finished a user, or ended: somebody may have to ask the users of that one. */
  async changed(signal: AbortSignal): Promise<void> {
    if (this.#members.some(({ isWorking }) => isWorking)) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      await Promise.race([woken, wait(LOOK_MS)]);
    }
    signal.throwIfAborted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#members.length === 0) return;
    this.#hooks.signal?.removeEventListener('abort', this.#stop);
    this.#stop();
    const all = Promise.all(this.#members.map(({ worker }) => worker.ended));
    await Promise.race([all, wait(GRACE_MS)]);
    for (const { worker } of this.#members) worker.kill();
    await all;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #onTurn: () => void = () => undefined;

  #start(startWorker: StartWorker, task: Omit<WorkerTask, 'worker'>): void {
    const name = randomUUID();
    const member: Member = {
      worker: startWorker(
        { ...task, worker: name },
        {
          onTurn: (turns) => {
            member.underWay = turns;
            this.#onTurn();
          },
          onUser: () => {
            member.finished += member.underWay;
            member.underWay = 0;
            this.#wake();
          },
        },
      ),
      ...{ isWorking: true, finished: 0, underWay: 0 },
    };
    this.#members.push(member);
    void member.worker.ended.then((why) => this.#ended(member, name, task.number, why));
  }

  /** Gives back the user whom it was asking: all of their questions are asked again. */
  #ended(member: Member, name: string, number: number, why: string | null): void {
    member.isWorking = false;
    member.underWay = 0;
    if (why !== null && this.#hooks.signal?.aborted !== true) {
      const note = `worker ${number} ended before its time (${why}): other workers asked its users`;
      this.notes.push(note);
      this.#hooks.onNote?.(note);
    }
    this.#users.release(name);
    this.#wake();
  }
}
