const IDLE_MS = 60_000;

/** Options of whatever waits for a server. */
export interface WaitOptions {
  /** Cancels it. */
  readonly signal?: AbortSignal | undefined;
  /** Time after which a server that sends nothing is given up. Default: 60 s. */
  readonly idleMs?: number | undefined;
}

/** Ends a request to a server that sends nothing for too long. */
export class IdleLimit implements Disposable {
  readonly idleMs: number;
  /** Aborted by the limit, or by whoever cancels the request. */
  readonly signal: AbortSignal;
  readonly #limit = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor({ signal, idleMs = IDLE_MS }: WaitOptions) {
    this.idleMs = idleMs;
    this.signal = signal === undefined ? this.#limit.signal : AbortSignal.any([signal, this.#limit.signal]);
    this.#timer = setTimeout(() => this.#limit.abort(), idleMs);
  }

  /** True where the server has sent nothing for too long. */
  get isReached(): boolean {
    return this.#limit.signal.aborted;
  }

  /** Notes that the server has sent something. */
  heard(): void {
    this.#timer.refresh();
  }

  /** @throws the reason of whoever cancelled the request */
  throwIfCancelled(): void {
    if (!this.isReached) this.signal.throwIfAborted();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
