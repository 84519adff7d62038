import { EventEmitter, once } from 'node:events';

/** A state of a run, rendered. */
export interface WatchedState {
  /** The same for the same state. */
  readonly html: string;
  /** The run goes on no more: no other state follows. */
  readonly ended: boolean;
}

/** How a run is watched. */
export interface WatchOptions {
  /** Changes whenever something may have been written. */
  readonly version: () => number;
  readonly read: () => Promise<WatchedState>;
  /** Between two looks at the version. */
  readonly pauseMs: number;
  /** The longest that followers hear nothing. */
  readonly beatMs: number;
}

/** A share of the time at most is spent on reading: a state that takes long is read less often. */
const pausePerCost = 20;

/** One run and all who follow it: its state is read once for all of them. */
export class RunWatch {
  readonly #options: WatchOptions;
  readonly #ticks = new EventEmitter();
  #state: WatchedState | undefined;
  /** The error that ended the watch. */
  #failure: Error | undefined;
  #version: number | undefined;
  #followers = 0;
  #timer: NodeJS.Timeout | undefined;
  #beatAt = 0;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#ticks.setMaxListeners(0);
  }

  get followers(): number {
    return this.#followers;
  }

  /**
   * Yields the state as it is, and again whenever it has changed; undefined where nothing has for some time. A follower who is
   * slow misses states that were followed by others. Ends with the run.
   * @throws the reason of `signal`, and what reading throws
   */
  async *follow(signal: AbortSignal): AsyncGenerator<WatchedState | undefined, void, undefined> {
    this.#followers++;
    try {
      if (this.#followers === 1) await this.#look();
      let shown: WatchedState | undefined;
      for (;;) {
        signal.throwIfAborted();
        const state = this.#current();
        yield state === shown ? undefined : state;
        shown = state;
        if (shown?.ended === true) return;
        if (this.#current() === shown) await once(this.#ticks, 'tick', { signal });
      }
    } finally {
      this.#followers--;
      if (this.#followers === 0) clearTimeout(this.#timer);
    }
  }

  #current(): WatchedState | undefined {
    if (this.#failure !== undefined) throw this.#failure;
    return this.#state;
  }

  /** Reads the state where something was written, or nothing was for long, and tells those who follow. */
  async #look(): Promise<void> {
    const { version, read, pauseMs, beatMs } = this.#options;
    const began = performance.now();
    try {
      const now = version();
      const isDue = began >= this.#beatAt;
      if (now !== this.#version || isDue) {
        this.#version = now;
        const state = await read();
        const isNew = state.html !== this.#state?.html;
        if (isNew) this.#state = state;
        if (isNew || isDue) {
          this.#beatAt = performance.now() + beatMs;
          this.#ticks.emit('tick');
        }
      }
    } catch (error) {
      this.#failure = error as Error;
      this.#ticks.emit('tick');
      return;
    }
    const cost = performance.now() - began;
    if (this.#followers > 0) this.#timer = setTimeout(() => void this.#look(), Math.max(pauseMs, pausePerCost * cost));
  }
}

/** The runs that are watched now, by name, of which one is forgotten when nobody follows it. */
export class RunWatches {
  readonly #watch: (run: string) => RunWatch;
  readonly #most: number;
  readonly #watches = new Map<string, RunWatch>();

  /** @param most followers of all runs together */
  constructor(watch: (run: string) => RunWatch, most: number) {
    this.#watch = watch;
    this.#most = most;
  }

  get isFull(): boolean {
    return [...this.#watches.values()].reduce((sum, { followers }) => sum + followers, 0) >= this.#most;
  }

  /** As `RunWatch.follow`. */
  async *follow(run: string, signal: AbortSignal): AsyncGenerator<WatchedState | undefined, void, undefined> {
    const watch = this.#watches.get(run) ?? this.#watch(run);
    this.#watches.set(run, watch);
    try {
      yield* watch.follow(signal);
    } finally {
      if (watch.followers === 0) this.#watches.delete(run);
    }
  }
}
