import { BenchError } from '../base/bench-error.ts';

export interface QueuedTurn {
  /** Two turns of one conversation never run at once: the later one goes on from what the earlier one said. */
  readonly conversation?: string | undefined;
  /** Takes a turn that still waits out of the queue: it rejects with the signal's reason, at once. */
  readonly signal?: AbortSignal | undefined;
}

interface Waiting<Place> {
  readonly conversation: string | undefined;
  readonly isAlone: boolean;
  readonly start: (places: readonly Place[]) => void;
  readonly refuse: (why: unknown) => void;
}

/** Turns in so many places at once, in the order of arrival. Exclusive work waits for all places, later turns behind it. */
export class TurnQueue<Place = undefined> {
  readonly #places: readonly Place[];
  readonly #free: Place[];
  readonly #waiting: Waiting<Place>[] = [];
  readonly #conversations = new Set<string>();
  readonly #idle = Promise.withResolvers<undefined>();
  #running = 0;
  #isClosed = false;

  /** @param places each is of one turn at a time */
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

  /** Runs a turn in the first place that is free. @throws BenchError `no-session` once the queue is closed */
  run<T>(turn: (place: Place) => Promise<T>, options: QueuedTurn = {}): Promise<T> {
    return this.#run(([place]) => turn(place!), options, false);
  }

  /** Runs work while no turn runs. @throws BenchError `no-session` once the queue is closed */
  runAlone<T>(work: (places: readonly Place[]) => Promise<T>, options: Pick<QueuedTurn, 'signal'> = {}): Promise<T> {
    return this.#run(work, options, true);
  }

  /** Rejects the turns that wait and all that come later, and waits for those that run. */
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
  return new BenchError('no-session', 'the system is closed: a turn that waited for it was refused', 'open another');
}
