import type { CallOptions, Generation, GenerationLimits, ScoreOptions } from '../engine-session.ts';
import { type SequenceScore, toScore } from '../sequence-score.ts';
import type { TokenId, TokenRange } from '../token-id.ts';
import type { TokenMeter } from '../token-meter.ts';
import type { BusyClock } from './busy-clock.ts';
import { chunkTokens } from './chunk-tokens.ts';
import { decodeTokens } from '../generated-text.ts';
import type { NativeSequence } from './native-sequence.ts';
import type { PrefillPace } from './prefill-pace.ts';
import { StateSession, type StateSessionParts } from '../llama-state/state-session.ts';

/** The parts of a session, and what it needs of its engine. */
export interface SessionParts extends StateSessionParts {
  readonly sequence: NativeSequence;
  readonly clock: BusyClock;
  /** Of the model, whichever session is read. */
  readonly pace: PrefillPace;
  readonly detokenize: (tokens: readonly TokenId[]) => string;
  /** Told when the session is closed, with its last reading. */
  readonly onClose: (last: TokenMeter) => void;
}

/** One llama.cpp sequence, its calls one after the other. */
export class LlamaCppSession extends StateSession<SessionParts> {
  #reused = 0;
  #decoded = 0;

  /** The counts now, whatever call is under way. */
  reading(): TokenMeter {
    const { sequence, clock } = this.parts;
    return {
      evaluated: sequence.evaluated - this.#decoded,
      reused: this.#reused,
      decoded: this.#decoded,
      busyMs: clock.ms,
    };
  }

  evaluate(tokens: readonly TokenId[], { signal }: CallOptions = {}): Promise<void> {
    return this.queue.add(signal, async () => {
      if (tokens.length === 0) return;
      this.requireSpace(tokens.length, 1);
      const chunks = chunkTokens(tokens, this.parts.pace.largestChunk(signal));
      this.#reused += this.cells;
      await this.#orAsBefore(() => this.#prefill(chunks, signal));
    });
  }

  generate(tokens: readonly TokenId[], limits: GenerationLimits, { signal }: CallOptions = {}): Promise<Generation> {
    const start = performance.now();
    return this.queue.add(undefined, async () => {
      const { maxTokens } = limits;
      if (maxTokens < 1) throw new RangeError(`maxTokens is ${maxTokens}: one token at least is generated`);
      this.requireSpace(tokens.length, maxTokens);
      const chunks = chunkTokens(tokens, this.parts.pace.largestChunk(signal));
      try {
        signal?.throwIfAborted();
        this.#reused += this.cells;
        return await this.#orAsBefore(() => this.#generate(chunks, limits, start, signal));
      } catch (error) {
        if (signal?.aborted !== true || error !== signal.reason) throw error;
        const firstTokenMs = performance.now() - start;
        return { tokens: [], text: '', thoughtTokens: 0, stop: 'aborted', firstTokenMs, decodeMs: 0, retries: [] };
      }
    });
  }

  score(
    tokens: readonly TokenId[],
    continuation: readonly TokenId[],
    { signal, distributions = false }: ScoreOptions = {},
  ): Promise<SequenceScore> {
    return this.queue.add(signal, async () => {
      if (tokens.length < 2) throw new RangeError(`${tokens.length} tokens to score after: two at least`);
      const forced = [...tokens, ...continuation.slice(0, -1)];
      this.requireSpace(forced.length, 1);
      const positions = Math.max(1, continuation.length);
      // Alone, or among others: the number of positions read at once must not vary with the length of the prompt.
      const together = Math.max(2, positions);
      const { pace } = this.parts;
      const largest = Math.max(pace.largestChunk(signal), Math.min(together + 1, pace.batchTokens));
      const chunks = chunkTokens(forced, largest, together);
      this.#reused += this.cells;
      const probabilities = await this.#orAsBefore(async () => {
        await this.#prefill(chunks.slice(0, -1), signal);
        signal?.throwIfAborted();
        return this.parts.sequence.probabilities(chunks.at(-1)!, positions);
      });
      return toScore(probabilities, continuation, this.parts.info.model.vocabularySize!, distributions);
    });
  }

  /** Waits for the calls that were made before. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!(await this.queue.close())) return;
    const last = this.reading();
    await this.parts.sequence.dispose();
    this.parts.exchange?.[Symbol.dispose]();
    this.parts.onClose(last);
  }

  /** Brings the session back to where it was, or empties it, where the evaluation of a call fails. */
  async #orAsBefore<T>(evaluation: () => Promise<T>): Promise<T> {
    const { cells, sequence } = this.parts;
    const before = cells.nextPosition;
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

  async #prefill(chunks: readonly (readonly TokenId[])[], signal: AbortSignal | undefined): Promise<void> {
    for (const chunk of chunks) {
      signal?.throwIfAborted();
      const start = performance.now();
      await this.parts.sequence.prefill(chunk);
      this.parts.pace.measured(chunk.length, performance.now() - start);
      signal?.throwIfAborted();
    }
  }

  async #generate(
    chunks: readonly (readonly TokenId[])[],
    limits: GenerationLimits,
    start: number,
    signal: AbortSignal | undefined,
  ): Promise<Generation> {
    const { sequence, detokenize } = this.parts;
    const { temperature = 0, seed = 0 } = limits;
    await this.#prefill(chunks.slice(0, -1), signal);
    signal?.throwIfAborted();
    const sampled = sequence.sample(chunks.at(-1)!, { temperature, seed });
    let calls = 0;
    const nextToken = async (): Promise<IteratorResult<TokenId, void>> => {
      const next = await sampled.next();
      if (calls++ > 0) this.#decoded++;
      return next;
    };
    const { firstTokenAt, ...decoded } = await decodeTokens(nextToken, limits, detokenize, signal);
    await sampled.end();
    return { ...decoded, firstTokenMs: firstTokenAt - start, decodeMs: performance.now() - firstTokenAt, retries: [] };
  }

  protected async keepFirst(kept: number): Promise<void> {
    await this.parts.sequence.truncate(kept);
  }

  protected async eraseWithin({ start, end }: TokenRange): Promise<void> {
    this.require('shift');
    const { cells, sequence } = this.parts;
    if (start <= cells.firstPosition) {
      throw new RangeError(`cannot erase from position ${start} on: a session keeps its first cell`);
    }
    await sequence.shift(start, end);
    cells.erase(start, end);
  }
}
