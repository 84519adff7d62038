import type { RunProbes } from '../../records/run-probes.ts';

/** Times of a run by what they were spent on, milliseconds. */
export type SpentMs = NonNullable<RunProbes['profile']['spent']>;

/** Adds up the time that a run spends on each of its parts, on top of what earlier sessions of it had spent. */
export class RunClock {
  #spent: SpentMs;

  constructor(before: SpentMs = { warmUp: 0, turns: 0, scoring: 0, checks: 0, measure: 0 }) {
    this.#spent = before;
  }

  get spent(): SpentMs {
    return this.#spent;
  }

  /** Runs a part; one that fails counts too. */
  async time<T>(part: keyof SpentMs, work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await work();
    } finally {
      this.#spent = { ...this.#spent, [part]: (this.#spent[part] ?? 0) + performance.now() - start };
    }
  }
}
