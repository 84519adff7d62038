import { BaseSession, type GenerateOptions, type SessionParts } from '../base-session.ts';
import type { CallOptions, Generation, GenerationLimits, ScoreOptions } from '../engine-session.ts';
import { decodeTokens } from '../generated-text.ts';
import { type SequenceScore, toScore } from '../sequence-score.ts';
import type { TokenId, TokenIds, TokenRange } from '../token-id.ts';
import type { TokenMeter } from '../token-meter.ts';
import type { NativeSequence } from './native-sequence.ts';

interface LlamaCppParts extends SessionParts {
  readonly sequence: NativeSequence;
  readonly pace: PrefillPace;
  readonly detokenize: (tokens: TokenIds) => string;
}

/** One llama.cpp sequence. */
export class LlamaCppSession extends BaseSession<LlamaCppParts> {
  #reused = 0;
  #decoded = 0;

  reading(): TokenMeter {
    const { evaluated, busyMs } = this.parts.sequence;
    return { evaluated: evaluated - this.#decoded, reused: this.#reused, decoded: this.#decoded, busyMs };
  }

  protected async evaluateNow(tokens: TokenIds, { signal }: CallOptions): Promise<void> {
    const chunks = chunkTokens(tokens, this.parts.pace.largestChunk(signal));
    await this.#orAsBefore(() => this.#prefill(chunks, signal));
  }

  protected async generateNow(
    tokens: TokenIds,
    limits: GenerationLimits,
    { signal, start }: GenerateOptions,
  ): Promise<Generation> {
    const { sequence, detokenize, pace } = this.parts;
    const { temperature = 0, seed = 0 } = limits;
    const chunks = chunkTokens(tokens, pace.largestChunk(signal));
    return this.#orAsBefore(async () => {
      await this.#prefill(chunks.slice(0, -1), signal);
      const sampled = sequence.sample(chunks.at(-1)!, { temperature, seed });
      let calls = 0;
      const nextToken = async (): Promise<IteratorResult<TokenId, void>> => {
        const next = await sampled.next();
        if (calls++ > 0) this.#decoded++;
        return next;
      };
      const { firstTokenAt, ...decoded } = await decodeTokens(nextToken, limits, detokenize, signal);
      await sampled.end();
      return {
        ...decoded,
        firstTokenMs: firstTokenAt - start,
        decodeMs: performance.now() - firstTokenAt,
        retries: [],
      };
    });
  }

  protected async scoreNow(
    tokens: TokenIds,
    continuation: TokenIds,
    { signal, distributions = false }: ScoreOptions,
  ): Promise<SequenceScore> {
    const { pace, sequence, info } = this.parts;
    const positions = Math.max(1, continuation.length);
    // The number of positions read at once must not depend on the length of the prompt.
    const together = Math.max(2, positions);
    const largest = Math.max(pace.largestChunk(signal), Math.min(together + 1, pace.batchTokens));
    const chunks = chunkTokens([...tokens, ...continuation.slice(0, -1)], largest, together);
    const probabilities = await this.#orAsBefore(async () => {
      await this.#prefill(chunks.slice(0, -1), signal);
      return sequence.probabilities(chunks.at(-1)!, positions);
    });
    return toScore(probabilities, continuation, info.model.vocabularySize!, distributions);
  }

  protected async keepFirst(kept: number): Promise<void> {
    await this.parts.sequence.truncate(kept);
  }

  protected override async shift({ start, end }: TokenRange): Promise<void> {
    await this.parts.sequence.shift(start, end);
  }

  protected override async release(): Promise<void> {
    await this.parts.sequence.dispose();
  }

  /** Restores the session, or empties it, where the evaluation of a call fails. */
  async #orAsBefore<T>(evaluation: () => Promise<T>): Promise<T> {
    const { cells, sequence } = this.parts;
    const before = cells.nextPosition;
    this.#reused += cells.count;
    try {
      return await evaluation();
    } catch (error) {
      try {
        cells.follow(sequence.tokens);
        await this.truncateNow(before);
      } catch {
        await sequence.replace();
        cells.load([], []);
      }
      throw error;
    } finally {
      cells.follow(sequence.tokens);
    }
  }

  async #prefill(chunks: readonly TokenIds[], signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    for (const chunk of chunks) {
      const start = performance.now();
      await this.parts.sequence.prefill(chunk);
      this.parts.pace.measured(chunk.length, performance.now() - start);
      signal?.throwIfAborted();
    }
  }
}

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

  measured(tokens: number, ms: number): void {
    if (tokens < LEAST_CHUNK_TOKENS) return;
    this.#msPerToken += NEWEST * (ms / tokens - this.#msPerToken);
  }
}
