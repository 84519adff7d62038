import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';

/** Time between two looks at a run's progress. */
const LOOK_MS = 5;

/**
 * A program in its own processes that sends its progress in turns, stopped unless it is continued. Its pace counts turns after the
 * first, over the time it ran.
 */
export class PacedRun implements Disposable {
  readonly #child: ChildProcess;
  #first = 0;
  #progress = { done: 0, total: Infinity };
  #elapsedMs = 0;

  private constructor(program: URL, choice: unknown) {
    // A process group, so that a signal reaches the workers too.
    this.#child = fork(program, [JSON.stringify(choice)], { detached: true });
    this.#child.on('message', (progress: { done: number }) => (this.#progress = { total: Infinity, ...progress }));
  }

  /** Starts a program, and stops it at its first turn. @throws Error if it ends before */
  static async begin(program: URL, choice: unknown): Promise<PacedRun> {
    const run = new PacedRun(program, choice);
    process.once('exit', run.#kill);
    await run.#until(() => run.#progress.done > 0);
    run.#signal('SIGSTOP');
    run.#first = run.#progress.done;
    return run;
  }

  get isOver(): boolean {
    return this.#progress.done === this.#progress.total;
  }

  get turns(): number {
    return this.#progress.done - this.#first;
  }

  get perMinute(): number {
    return (60_000 * this.turns) / this.#elapsedMs;
  }

  /** Continues the run for this long, or until its last turn. @throws Error if it ends before that */
  async continue(ms: number): Promise<void> {
    const start = performance.now();
    this.#signal('SIGCONT');
    await this.#until(() => this.isOver || performance.now() >= start + ms);
    this.#signal('SIGSTOP');
    this.#elapsedMs += performance.now() - start;
  }

  async #until(isReached: () => boolean): Promise<void> {
    while (!isReached()) {
      if (!this.#child.connected) throw new Error('a process ended before it was measured');
      await wait(LOOK_MS);
    }
  }

  [Symbol.dispose](): void {
    process.off('exit', this.#kill);
    this.#kill();
  }

  readonly #kill = (): void => this.#signal('SIGKILL');

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.#child.pid!, signal);
    } catch (error) {
      // The group has ended.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
