/** Adds up the time spent inside node-llama-cpp: evaluation, sampling, saving and loading of states. */
export class BusyClock {
  #ms = 0;

  get ms(): number {
    return this.#ms;
  }

  /** Runs a call; a failed one counts too. */
  async time<T>(call: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await call();
    } finally {
      this.#ms += performance.now() - start;
    }
  }
}
