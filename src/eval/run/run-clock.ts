import type { Engine } from '../../engine/engine.ts';
import type { EvaluatedTokens } from '../../records/results.ts';
import type { RunProbes } from '../../records/run-probes.ts';

/** Times of a run by what they were spent on, milliseconds. */
export type SpentMs = NonNullable<RunProbes['profile']['spent']>;

const noTime: SpentMs = { warmUp: 0, turns: 0, scoring: 0, checks: 0, measure: 0 };
const noTokens: EvaluatedTokens = { warmUp: 0, turns: 0, prepared: 0, scoring: 0, checks: 0, measure: 0, unbooked: 0 };

/** What earlier sessions of a run had spent. */
type SpentBefore = Partial<Pick<RunProbes['profile'], 'spent' | 'evaluatedTokens'>>;

/**
 * Adds up the time and the evaluated tokens that a run spends on each of its parts, on top of what earlier sessions of it had
 * spent. The tokens are the engine's, over all its sessions: what it evaluates between two parts is unbooked.
 */
export class RunClock {
  readonly #engine: Pick<Engine, 'meter'>;
  #spent: SpentMs;
  #tokens: EvaluatedTokens | null;
  /** Evaluated when the last part ended; undefined before the first begins. */
  #booked: number | undefined;

  constructor(engine: Pick<Engine, 'meter'>, { spent = noTime, evaluatedTokens = noTokens }: SpentBefore = {}) {
    this.#engine = engine;
    this.#spent = spent;
    this.#tokens = evaluatedTokens;
  }

  get spent(): SpentMs {
    return this.#spent;
  }

  /** By part; null where the engine does not count them. */
  get tokens(): EvaluatedTokens | null {
    return this.#tokens;
  }

  /**
   * Runs a part; one that fails counts too. Parts follow each other.
   * @param tokensOf the part that its tokens are booked on. Default: the part itself
   */
  async time<T>(
    part: keyof SpentMs,
    work: () => Promise<T>,
    // A judge answers elsewhere: nothing is evaluated here.
    tokensOf: keyof EvaluatedTokens = part === 'judge' ? 'unbooked' : part,
  ): Promise<T> {
    await this.#book('unbooked');
    const start = performance.now();
    try {
      return await work();
    } finally {
      this.#spent = { ...this.#spent, [part]: (this.#spent[part] ?? 0) + performance.now() - start };
      await this.#book(tokensOf);
    }
  }

  async #book(part: keyof EvaluatedTokens): Promise<void> {
    const { evaluated } = await this.#engine.meter();
    const tokens = this.#tokens;
    const newly = evaluated === null ? null : evaluated - (this.#booked ?? evaluated);
    this.#tokens = tokens === null || newly === null ? null : { ...tokens, [part]: tokens[part] + newly };
    this.#booked = evaluated ?? undefined;
  }
}
