import { BenchError } from '../../base/bench-error.ts';
import type { GenerateOptions, SessionParts, UntimedGeneration } from '../base-session.ts';
import type { CallOptions, GenerationLimits, Retry, ScoreOptions } from '../engine-session.ts';
import { FORCING_BIAS, forcedScore, type ScoredModel, type SendForced } from '../http/forced-score.ts';
import { ServerSession } from '../http/server-session.ts';
import { fillUnknown, TokenStream } from '../http/token-stream.ts';
import { type TokenIds, UNKNOWN_TOKEN } from '../token-id.ts';
import type { TokenMeter } from '../token-meter.ts';
import type { Chunk, Slot } from './slot.ts';

interface LlamaServerParts extends SessionParts {
  readonly slot: Slot;
  readonly scored: ScoredModel;
  /** True: slots can be emptied. False: the next request forbids reuse instead. */
  readonly canErase: boolean;
}

/** A session in one slot of a llama-server. */
export class LlamaServerSession extends ServerSession<LlamaServerParts> {
  reading(): TokenMeter {
    return this.parts.slot.counts.reading;
  }

  protected async sendEvaluate(ids: TokenIds, options: CallOptions): Promise<void> {
    await this.parts.slot.evaluate(ids, this.#held, options);
  }

  /**
   * llama-server sends no ids for tokens that end within a character. Generates once more to get them, which counts as
   * decoding; they stay unknown if the second answer differs.
   */
  protected async sendGenerate(ids: TokenIds, limits: GenerationLimits, options: GenerateOptions) {
    const { slot } = this.parts;
    const { maxTokens, temperature = 0, seed = 0 } = limits;
    const fields = { n_predict: maxTokens, temperature, seed };
    const retries: Retry[] = [];
    const { signal } = options;
    const events = slot.generate(ids, this.#held, fields, { signal, onRetry: (retry) => retries.push(retry) });
    const stream = new SlotStream(events, { maxTokens, errors: slot.errors });
    let generation: UntimedGeneration;
    try {
      generation = { ...(await stream.decode(limits, options)), retries };
      if (generation.stop === 'length') await stream.finish();
    } finally {
      await events.return();
    }
    const { tokens } = generation;
    if (!tokens.includes(UNKNOWN_TOKEN)) return generation;
    const again = await slot.generateAgain(ids, { ...fields, n_predict: tokens.length });
    return { ...generation, tokens: fillUnknown(tokens, again) };
  }

  protected async sendScore(ids: TokenIds, continuation: TokenIds, { distributions = false, signal }: ScoreOptions) {
    const { slot, scored } = this.parts;
    const send: SendForced = async ({ token, count, isStep, ...request }) => {
      const fields = { n_predict: 1, n_probs: count, logit_bias: [[token, FORCING_BIAS]] } as const;
      const answer = await slot.complete(request.ids, request.held, fields, { signal, isStep });
      return answer.completion_probabilities?.[0];
    };
    return forcedScore(send, { ids, held: this.#held, continuation, distributions }, scored);
  }

  protected async keepFirst(kept: number): Promise<void> {
    if (kept === 0) await this.release();
  }

  protected override async release(): Promise<void> {
    if (this.parts.canErase) await this.parts.slot.erase({});
  }

  /** Empties the session if the server has lost it. */
  protected async guard<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof BenchError && error.code === 'changed') this.parts.cells.load([], []);
      throw error;
    }
  }

  get #held(): number {
    return this.parts.cells.nextPosition;
  }
}

class SlotStream extends TokenStream<Chunk> {
  protected read({ stop, stop_type: stopType, timings, ...chunk }: Chunk): void {
    if (stop === true) {
      this.isOver = true;
      this.pad(timings?.predicted_n ?? 0);
      if (stopType === 'eos') this.waiting.pop();
      return;
    }
    this.pad((chunk.tokens_predicted ?? 0) - 1);
    for (const id of chunk.tokens ?? []) this.waiting.push({ id, content: chunk.content ?? '' });
  }

  /** Not reached in complete answers, which have an event with `stop`. */
  protected end(): void {
    this.isOver = true;
  }
}
