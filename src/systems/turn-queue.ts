import { BenchError } from '../base/bench-error.ts';

/** Conditions of one turn in a queue. */
export interface QueuedTurn {
  /** Two turns of one conversation never run at once: the later one goes on from what the earlier one said. */
  readonly conversation?: string | undefined;
  /** Takes a turn that still waits out of the queue: it rejects with the signal's reason, at once. */
  readonly signal?: AbortSignal | undefined;
}

interface Waiting<Place> extends Pick<QueuedTurn, 'conversation'> {
  readonly isAlone: boolean;
  readonly start: (places: readonly Place[]) => void;
  readonly refuse: (why: Error) => void;
}

/**
 * Turns that run in so many places at once, and those that wait for one, in the order of arrival. Work that must meet no
 * turn waits for all places, and whatever comes later waits behind it.
 */
export class TurnQueue<Place = undefined> {
  readonly #places: readonly Place[];
  readonly #free: Place[];
  readonly #waiting: Waiting<Place>[] = [];
  /** Conversations of the turns that run. */
  readonly #conversations = new Set<string>();
  #running = 0;
  #isClosed = false;
  #onIdle: () => void = () => undefined;

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

  /** Runs a turn in the first place that is free. @throws BenchError `no-session` once the queue is closed */
  async run<T>(turn: (place: Place) => Promise<T>, options: QueuedTurn = {}): Promise<T> {
    const [place] = await this.#enter(options, false);
    try {
      return await turn(place!);
    } finally {
      this.#leave([place!], options);
    }
  }

  /** Runs work while no turn runs. @throws BenchError `no-session` once the queue is closed */
  async runAlone<T>(
    work: (places: readonly Place[]) => Promise<T>,
    options: Pick<QueuedTurn, 'signal'> = {},
  ): Promise<T> {
    const places = await this.#enter(options, true);
    try {
      return await work(places);
    } finally {
      this.#leave(places, {});
    }
  }

  /** Refuses those who wait and all who come later, and waits for what is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { refuse } of this.#waiting.splice(0)) refuse(closed());
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => {
      const others = this.#onIdle;
      this.#onIdle = () => {
        others();
        resolve();
      };
    });
  }

  async #enter({ conversation, signal }: QueuedTurn, isAlone: boolean): Promise<readonly Place[]> {
    if (this.#isClosed) throw closed();
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal?.reason as Error);
        this.#startNext();
      };
      const ended = (): void => signal?.removeEventListener('abort', abort);
      const waiting: Waiting<Place> = {
        conversation,
        isAlone,
        start: (places) => {
          ended();
          resolve(places);
        },
        refuse: (why) => {
          ended();
          reject(why);
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.push(waiting);
      this.#startNext();
    });
  }

  #leave(places: readonly Place[], { conversation }: QueuedTurn): void {
    this.#running--;
    this.#free.push(...places);
    if (conversation !== undefined) this.#conversations.delete(conversation);
    this.#startNext();
    if (this.#running === 0) this.#onIdle();
  }

  /** Starts all who can start. A turn whose conversation is being answered is overtaken, work that waits for all never. */
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
