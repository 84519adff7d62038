import { BaseSession, type GenerateOptions, type SessionParts } from '../base-session.ts';
import type { CallOptions, GenerationLimits, ScoreOptions } from '../engine-session.ts';
import { decodeTokens } from '../generated-text.ts';
import { toScore } from '../sequence-score.ts';
import type { TokenId, TokenIds, TokenRange } from '../token-id.ts';
import type { TokenMeter } from '../token-meter.ts';
import type { NativeSequence } from './native-sequence.ts';

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
    const { evaluated, counts } = this.parts.sequence;
    const { busyMs } = counts.reading;
    return { evaluated: evaluated - this.#decoded, reused: this.#reused, decoded: this.#decoded, busyMs };
  }

  protected async evaluateNow(tokens: TokenIds, { signal }: CallOptions): Promise<void> {
    const chunks = chunkTokens(tokens, this.parts.chunks);
    await this.#orAsBefore(() => this.#prefill(chunks, signal));
  }

  protected async generateNow(tokens: TokenIds, limits: GenerationLimits, options: GenerateOptions) {
    const { sequence, detokenize } = this.parts;
    const { temperature = 0, seed = 0 } = limits;
    const chunks = chunkTokens(tokens, this.parts.chunks);
    return this.#orAsBefore(async () => {
      await sequence.mark();
      await this.#prefill(chunks.slice(0, -1), options.signal);
      const sampled = sequence.sample(chunks.at(-1)!, { temperature, seed });
      let calls = 0;
      const nextToken = async (): Promise<IteratorResult<TokenId, void>> => {
        const next = await sampled.next();
        if (calls++ > 0) this.#decoded++;
        return next;
      };
      const decoded = await decodeTokens(nextToken, limits, detokenize, options).finally(() => sampled.end());
      return { ...decoded, retries: [] };
    });
  }

  protected async scoreNow(tokens: TokenIds, continuation: TokenIds, { signal, distributions = false }: ScoreOptions) {
    const { sequence, info } = this.parts;
    const positions = Math.max(1, continuation.length);
    // The last chunk must hold all scored positions and at least two tokens, even for a short prompt.
    const together = Math.max(2, positions);
    if (together >= this.parts.batchTokens) {
      throw new RangeError(`${together} tokens to score, expected fewer than the ${this.parts.batchTokens} of a batch`);
    }
    const chunks = chunkTokens([...tokens, ...continuation.slice(0, -1)], this.parts.chunks, together);
    const probabilities = await this.#orAsBefore(async () => {
      await sequence.mark();
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

type ChunkRule = Readonly<ReturnType<typeof chunkRule>>;

/** Weights times tokens between two checks of the abort signal: at most a second on one core. */
const WEIGHTS_PER_CHUNK = 1.5e10;
/** Smaller chunks slow evaluation down too much. */
const MIN_CHUNK_TOKENS = 32;

/**
 * How prompts are cut into chunks. Depends on the model's size, not on measured time, so that results stay repeatable.
 * @param exactCuts of the engine; if null, chunks are whole batches, the fewest possible cuts
 * @returns most tokens per chunk; chunks end at multiples of `multiple` tokens, counted from the start of their call
 */
export function chunkRule(batchTokens: number, parameters: number, exactCuts: number | null) {
  if (exactCuts === null) return { largest: batchTokens, multiple: 1 };
  const largest = 2 ** Math.floor(Math.log2(WEIGHTS_PER_CHUNK / parameters));
  return { largest: Math.min(batchTokens, Math.max(MIN_CHUNK_TOKENS, largest)), multiple: exactCuts };
}

/**
 * Cuts tokens into chunks to evaluate one after the other. No chunk has a single token: llama.cpp computes those with another
 * kernel, so their bits would depend on the cut.
 * @param lastAtLeast minimum size of the last chunk, at least two; may exceed `largest`
 * @throws RangeError for a single token
 */
export function chunkTokens(tokens: TokenIds, { largest, multiple }: ChunkRule, lastAtLeast = 2): TokenId[][] {
  if (tokens.length < 2) {
    throw new RangeError(`${tokens.length} tokens to evaluate, expected at least 2`);
  }
  const chunks: TokenId[][] = [];
  let start = 0;
  while (tokens.length - start > Math.max(largest, lastAtLeast)) {
    const size = Math.floor(Math.min(largest, tokens.length - start - lastAtLeast) / multiple) * multiple;
    if (size === 0) break;
    chunks.push(tokens.slice(start, start + size));
    start += size;
  }
  chunks.push(tokens.slice(start));
  return chunks;
}
