import { BenchError } from '../base/bench-error.ts';

/** The calls of a session, made one after the other, however those before them end. */
export class CallQueue {
  /** Ends when the last call has ended. */
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /**
   * Makes a call when those before it have ended.
   * @param signal rejects the call with its reason where it is aborted by then
   * @throws BenchError `no-session` once the queue is closed
   */
  async add<T>(signal: AbortSignal | undefined, call: () => T | Promise<T>): Promise<T> {
    if (this.#isClosed) throw new BenchError('no-session', 'the session is closed', 'open another');
    const turn = this.#last.then(() => {
      signal?.throwIfAborted();
      return call();
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Takes no more calls, and waits for those that it has; false where it was closed already. */
  async close(): Promise<boolean> {
    const isFirst = !this.#isClosed;
    this.#isClosed = true;
    await this.#last;
    return isFirst;
  }
}
