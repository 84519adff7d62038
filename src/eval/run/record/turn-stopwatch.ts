/** Times of a turn that its own stopwatch took, milliseconds. */
export interface TurnTimes {
  /** From the call to the first token of the last generation; null where nothing was generated. */
  readonly firstTokenMs: number | null;
  readonly totalMs: number;
  /** Of the time to the first token, or of all where there is none: spent in no call that was watched. */
  readonly ownMs: number;
}

/** One monotonic clock around a turn: the time in calls that are watched, and the rest, which is the system's own. */
export class TurnStopwatch {
  readonly #start = performance.now();
  /** Of calls that have ended, overlapping ones counted once. */
  #watchedMs = 0;
  #underWay = 0;
  #since = 0;
  #first: { readonly ms: number; readonly ownMs: number } | undefined;

  /** A watched call begins. */
  enter(): void {
    if (this.#underWay++ === 0) this.#since = performance.now();
  }

  /** A watched call has ended. */
  leave(): void {
    if (--this.#underWay === 0) this.#watchedMs += performance.now() - this.#since;
  }

  /** The first token of a generation is there; that of a later generation takes its place. */
  firstToken(): void {
    this.#first = this.#now();
  }

  stop(): TurnTimes {
    const whole = this.#now();
    return {
      firstTokenMs: this.#first?.ms ?? null,
      totalMs: whole.ms,
      ownMs: (this.#first ?? whole).ownMs,
    };
  }

  #now(): { readonly ms: number; readonly ownMs: number } {
    const now = performance.now();
    const watchedMs = this.#watchedMs + (this.#underWay > 0 ? now - this.#since : 0);
    return { ms: now - this.#start, ownMs: now - this.#start - watchedMs };
  }
}
