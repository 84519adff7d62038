/** Adds up the time that is spent inside node-llama-cpp: tokenising, evaluation, sampling, saving and loading of states. */
export class BusyClock {
  #ms = 0;

  get ms(): number {
    return this.#ms;
  }

  /** Runs a call that does not wait; one that fails counts too. */
  timeSync<T>(call: () => T): T {
    const start = performance.now();
    try {
      return call();
    } finally {
      this.#ms += performance.now() - start;
    }
  }

  /** Runs a call; one that fails counts too. */
  async time<T>(call: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await call();
    } finally {
      this.#ms += performance.now() - start;
    }
  }
}
