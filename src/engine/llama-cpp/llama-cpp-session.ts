import { BaseSession, type GenerateOptions, type SessionParts } from '../base-session.ts';
import type { CallOptions, Generation, GenerationLimits, ScoreOptions } from '../engine-session.ts';
import { decodeTokens } from '../decode-tokens.ts';
import { type SequenceScore, toScore } from '../sequence-score.ts';
import type { TokenId, TokenIds, TokenRange } from '../token-id.ts';
import type { TokenMeter } from '../token-meter.ts';
import type { NativeSequence } from './native-sequence.ts';
import { type ChunkRule, chunkTokens } from './prefill-chunks.ts';

interface LlamaCppParts extends SessionParts {
  readonly sequence: NativeSequence;
  readonly chunks: ChunkRule;
  readonly batchTokens: number;
  readonly detokenize: (tokens: TokenIds) => string;
}

/** A session as one sequence of a llama.cpp context. */
export class LlamaCppSession extends BaseSession<LlamaCppParts> {
  #reused = 0;
  #decoded = 0;

  reading(): TokenMeter {
    const { evaluated, busyMs } = this.parts.sequence;
    return { evaluated: evaluated - this.#decoded, reused: this.#reused, decoded: this.#decoded, busyMs };
  }

  protected async evaluateNow(tokens: TokenIds, { signal }: CallOptions): Promise<void> {
    const chunks = chunkTokens(tokens, this.parts.chunks);
    await this.#orAsBefore(() => this.#prefill(chunks, signal));
  }

  protected async generateNow(
    tokens: TokenIds,
    limits: GenerationLimits,
    { signal, start }: GenerateOptions,
  ): Promise<Generation> {
    const { sequence, detokenize } = this.parts;
    const { temperature = 0, seed = 0 } = limits;
    const chunks = chunkTokens(tokens, this.parts.chunks);
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
    const { sequence, info } = this.parts;
    const positions = Math.max(1, continuation.length);
    // The last chunk must hold all scored positions and at least two tokens, whatever the length of the prompt.
    const together = Math.max(2, positions);
    if (together >= this.parts.batchTokens) {
      throw new RangeError(`${together} tokens to score, expected fewer than the ${this.parts.batchTokens} of a batch`);
    }
    const chunks = chunkTokens([...tokens, ...continuation.slice(0, -1)], this.parts.chunks, together);
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

  /** Runs an evaluation. If it fails, restores the session or, if that fails too, empties it. */
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
      await this.parts.sequence.prefill(chunk);
      signal?.throwIfAborted();
    }
  }
}
