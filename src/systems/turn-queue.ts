import { BenchError } from '../base/bench-error.ts';

export interface QueuedTurn {
  /** Turns of one conversation run one after another, because a turn needs the answers before it. */
  readonly conversation?: string | undefined;
  /** Removes a waiting turn from the queue: it rejects at once with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

interface Waiting<Place> {
  readonly conversation: string | undefined;
  readonly isAlone: boolean;
  readonly start: (places: readonly Place[]) => void;
  readonly refuse: (why: unknown) => void;
}

/** Runs turns in order of arrival, one per place (a session). Exclusive work waits for all places, later turns for it. */
export class TurnQueue<Place = undefined> {
  readonly #places: readonly Place[];
  readonly #free: Place[];
  readonly #waiting: Waiting<Place>[] = [];
  readonly #conversations = new Set<string>();
  readonly #idle = Promise.withResolvers<undefined>();
  #running = 0;
  #isClosed = false;

  /** @param places each serves one turn at a time */
  constructor(places: readonly Place[]) {
    this.#places = places;
    this.#free = [...places];
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get running(): number {
    return this.#running;
  }

  /** @throws BenchError `no-session` once the queue is closed */
  requireOpen(): void {
    if (this.#isClosed) throw closed();
  }

  /** Runs a turn in the first free place. @throws BenchError `no-session` once the queue is closed */
  run<T>(turn: (place: Place) => Promise<T>, options: QueuedTurn = {}): Promise<T> {
    return this.#run(([place]) => turn(place!), options, false);
  }

  /** Runs exclusive work, while no turn runs. @throws BenchError `no-session` once the queue is closed */
  runAlone<T>(work: (places: readonly Place[]) => Promise<T>, options: Pick<QueuedTurn, 'signal'> = {}): Promise<T> {
    return this.#run(work, options, true);
  }

  /** Rejects waiting and later turns, and waits for the running ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { refuse } of this.#waiting.splice(0)) refuse(closed());
    if (this.#running > 0) await this.#idle.promise;
  }

  async #run<T>(
    work: (places: readonly Place[]) => Promise<T>,
    { conversation, signal }: QueuedTurn,
    isAlone: boolean,
  ): Promise<T> {
    this.requireOpen();
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<readonly Place[]>();
    const waiting = { conversation, isAlone, start: resolve, refuse: reject };
    const abort = (): void => {
      const index = this.#waiting.indexOf(waiting);
      // It may have been started a moment ago.
      if (index === -1) return;
      this.#waiting.splice(index, 1);
      reject(signal?.reason);
      this.#startNext();
    };
    signal?.addEventListener('abort', abort, { once: true });
    this.#waiting.push(waiting);
    this.#startNext();
    const places = await promise.finally(() => signal?.removeEventListener('abort', abort));
    try {
      return await work(places);
    } finally {
      this.#end(places, conversation);
    }
  }

  #end(places: readonly Place[], conversation: string | undefined): void {
    this.#running--;
    this.#free.push(...places);
    if (conversation !== undefined) this.#conversations.delete(conversation);
    this.#startNext();
    if (this.#isClosed && this.#running === 0) this.#idle.resolve(undefined);
  }

  #startNext(): void {
    for (let index = 0; index < this.#waiting.length && this.#free.length > 0;) {
      const { conversation, isAlone, start } = this.#waiting[index]!;
      if (isAlone && this.#free.length < this.#places.length) return;
      if (conversation !== undefined && this.#conversations.has(conversation)) {
        index++;
        continue;
      }
      this.#waiting.splice(index, 1);
      this.#running++;
      if (conversation !== undefined) this.#conversations.add(conversation);
      start(this.#free.splice(0, isAlone ? this.#places.length : 1));
    }
  }
}

function closed(): BenchError {
  return new BenchError('no-session', 'the system is closed and accepts no more calls', 'open another system');
}
