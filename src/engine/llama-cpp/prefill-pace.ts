/** A call with a signal evaluates about this long before it looks at the signal again. */
const LOOK_MS = 800;
/** Shorter chunks cost more than they are worth. */
const LEAST_CHUNK_TOKENS = 8;
/** Of one core, before anything was measured: weights times tokens, in a millisecond. */
const WEIGHTS_PER_MS = 1.5e7;
/** The weight of the last measurement in the mean. */
const NEWEST = 0.5;

/**
 * The pace at which a model reads, as measured, and the chunks by it that a call with a signal is evaluated in. How tokens
 * are cut into chunks of two and more shows in no bit of the result, where the CPU computes without flash attention: elsewhere
 * chunks are always as large as can be.
 */
export class PrefillPace {
  /** The most that llama.cpp evaluates at once. */
  readonly batchTokens: number;
  readonly #cutsFreely: boolean;
  #msPerToken: number;

  constructor(batchTokens: number, parameters: number, cutsFreely: boolean) {
    this.batchTokens = batchTokens;
    this.#cutsFreely = cutsFreely;
    this.#msPerToken = parameters / WEIGHTS_PER_MS;
  }

  /** Tokens that are evaluated at once, at most. */
  largestChunk(signal: AbortSignal | undefined): number {
    if (signal === undefined || !this.#cutsFreely) return this.batchTokens;
    const tokens = Math.round(LOOK_MS / this.#msPerToken);
    return Math.min(this.batchTokens, Math.max(LEAST_CHUNK_TOKENS, tokens));
  }

  /** Notes what a chunk took. */
  measured(tokens: number, ms: number): void {
    if (tokens < LEAST_CHUNK_TOKENS) return;
    this.#msPerToken += NEWEST * (ms / tokens - this.#msPerToken);
  }
}
