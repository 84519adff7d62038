import type { TokenId, TokenIds } from '../token-id.ts';

/**
 * Cuts tokens into chunks that llama.cpp evaluates at once, none of a single token: llama.cpp computes single tokens in
 * another way, and their bits would depend on where the cut is.
 * @param largest tokens of a chunk at most
 * @param lastAtLeast tokens that stay together in the last chunk, at least two and fewer than `largest`
 * @throws RangeError for a single token, and for a last chunk that would not fit
 */
export function chunkTokens(tokens: TokenIds, largest: number, lastAtLeast = 2): TokenId[][] {
  if (tokens.length < 2) {
    throw new RangeError(`${tokens.length} tokens to evaluate: bits are repeatable from two tokens on`);
  }
  if (lastAtLeast >= largest)
    throw new RangeError(`${lastAtLeast} tokens do not stay together in chunks of ${largest}`);
  const chunks: TokenId[][] = [];
  let start = 0;
  while (tokens.length - start > largest) {
    const size = Math.min(largest, tokens.length - start - lastAtLeast);
    chunks.push(tokens.slice(start, start + size));
    start += size;
  }
  chunks.push(tokens.slice(start));
  return chunks;
}

/** Time between two checks of a signal. */
const LOOK_MS = 800;
/** Shorter chunks cost more than they gain. */
const LEAST_CHUNK_TOKENS = 8;
/** First estimate for one core: weights times tokens in a millisecond. */
const WEIGHTS_PER_MS = 1.5e7;
/** The weight of the last measurement in the mean. */
const NEWEST = 0.5;

/**
 * Measures how fast a model reads, and sizes the chunks of a call with a signal by it. On the CPU without flash attention
 * chunks of two and more tokens do not change any bit of the result; elsewhere chunks are always as large as possible.
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

  /** Records the time of a chunk. */
  measured(tokens: number, ms: number): void {
    if (tokens < LEAST_CHUNK_TOKENS) return;
    this.#msPerToken += NEWEST * (ms / tokens - this.#msPerToken);
  }
}
