/** Adds up the time that is spent inside node-llama-cpp: loading, tokenising, evaluation, sampling, saving and loading of states. */
export class ModelClock {
  #callMs = 0;
  #calls = 0;

  /** Milliseconds inside node-llama-cpp since the last reset. */
  get callMs(): number {
    return this.#callMs;
  }

  /** Number of calls since the last reset; a generated token is one. */
  get calls(): number {
    return this.#calls;
  }

  reset(): void {
    this.#callMs = 0;
    this.#calls = 0;
  }

  /** Runs a call that does not wait on the clock; one that fails counts too. */
  timeSync<T>(call: () => T): T {
    const start = performance.now();
    try {
      return call();
    } finally {
      this.#callMs += performance.now() - start;
      this.#calls++;
    }
  }

  /** Runs a call on the clock; one that fails counts too. */
  async time<T>(call: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await call();
    } finally {
      this.#callMs += performance.now() - start;
      this.#calls++;
    }
  }
}
