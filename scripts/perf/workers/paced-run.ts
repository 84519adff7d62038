import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runBench } from '../../../src/bench/compose.ts';
import { loadBenchConfig } from '../../../src/bench/load-config.ts';
import { nextMessage } from './next-message.ts';

/** Options of a run by their names on the command line. */
export type Flags = Readonly<Record<string, string>>;

/** Turns of a run so far, and those of its plan. */
interface Turns {
  readonly done: number;
  readonly total: number;
}

/**
 * A run in processes of its own, which stand still unless they are let go on. Its pace is that of its turns from the first that is
 * seen to the last, over the time in which it went on.
 */
export class PacedRun implements Disposable {
  readonly #child: ChildProcess;
  #first: number | undefined;
  #turns: Turns = { done: 0, total: Infinity };
  #wentOnMs = 0;

  private constructor(flags: Flags) {
    // A group of their own: a signal to it reaches the workers too.
    this.#child = fork(fileURLToPath(import.meta.url), [JSON.stringify(flags)], { detached: true });
    this.#child.on('message', (turns: Turns) => (this.#turns = turns));
  }

  /** Begins a run, which stands still at its first turn. @throws Error where it ends before */
  static async begin(flags: Flags): Promise<PacedRun> {
    const run = new PacedRun(flags);
    process.once('exit', run.#end);
    await nextMessage(run.#child);
    run.#signal('SIGSTOP');
    run.#first = run.#turns.done;
    return run;
  }

  get isOver(): boolean {
    return this.#turns.done === this.#turns.total;
  }

  /** Turns that were counted. */
  get turns(): number {
    return this.#turns.done - this.#first!;
  }

  get perMinute(): number {
    return (60_000 * this.turns) / this.#wentOnMs;
  }

  /** Lets it go on for so long, or until its last turn. @throws Error where it ends before that */
  async goOn(ms: number): Promise<void> {
    const start = performance.now();
    const left = (): number => start + ms - performance.now();
    this.#signal('SIGCONT');
    while (left() > 0 && !this.isOver) {
      await Promise.race([wait(left(), undefined, { ref: false }), nextMessage(this.#child)]);
    }
    this.#signal('SIGSTOP');
    this.#wentOnMs += performance.now() - start;
  }

  [Symbol.dispose](): void {
    process.off('exit', this.#end);
    this.#end();
  }

  readonly #end = (): void => this.#signal('SIGKILL');

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.#child.pid!, signal);
    } catch (error) {
      // Of a group that has ended nobody is left to take it.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

async function take(flags: Flags): Promise<void> {
  await runBench(loadBenchConfig({ flags }), {
    onProgress: ({ phase, done, total }) => {
      if (phase === 'turns') process.send!({ done, total } satisfies Turns);
    },
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await take(JSON.parse(process.argv[2]!) as Flags);
