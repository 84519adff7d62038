import { LEASE_S, type QueueStore } from '../../../store/queue/queue-store.ts';

const BEAT_MS = 5000;

/** Tells the queue that a worker is alive, and the worker when it has lost its unit. */
export class Heartbeat implements Disposable {
  readonly #store: Pick<QueueStore, 'beat'>;
  readonly #worker: string;
  readonly #timer: NodeJS.Timeout;
  /** By `performance.now`: the last answer, and the first of those that came without a gap. */
  #heard = performance.now();
  #steadySince = performance.now();
  #watched: { readonly position: number; readonly lost: AbortController } | undefined;

  constructor(store: Pick<QueueStore, 'beat'>, worker: string) {
    this.#store = store;
    this.#worker = worker;
    this.#timer = setInterval(() => void this.#beat(), BEAT_MS);
  }

  /**
   * The queue has answered for a lease without a gap. Whoever was cut off cannot tell whether the others were silent, or the
   * queue was away for all.
   */
  get isSteady(): boolean {
    return performance.now() - this.#steadySince > LEASE_S * 1000;
  }

  /** Aborted when the unit is no longer the worker's. */
  watch(position: number): AbortSignal {
    const lost = new AbortController();
    this.#watched = { position, lost };
    return lost.signal;
  }

  unwatch(): void {
    this.#watched = undefined;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #beat(): Promise<void> {
    // A unit that was claimed meanwhile is not among the answer.
    const watched = this.#watched;
    try {
      const held = await this.#store.beat(this.#worker);
      const now = performance.now();
      if (now - this.#heard > (LEASE_S * 1000) / 2) this.#steadySince = now;
      this.#heard = now;
      if (watched !== undefined && !held.includes(watched.position)) watched.lost.abort();
    } catch {
      // Away: the next beat may reach it, and what is stored decides whose the unit is.
    }
  }
}
