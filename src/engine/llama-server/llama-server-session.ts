import { BenchError } from '../../base/bench-error.ts';
import type { CallOptions, Generation, GenerationLimits, ScoreOptions } from '../engine-session.ts';
import type { ScoredModel } from '../http/forced-score.ts';
import { PLACEHOLDER_TOKEN } from '../llama-state/state-file.ts';
import { StateSession, type StateSessionParts } from '../llama-state/state-session.ts';
import type { SequenceScore } from '../sequence-score.ts';
import { type TokenId, UNKNOWN_TOKEN } from '../token-id.ts';
import type { TokenMeter } from '../token-meter.ts';
import { generateIn } from './slot-generation.ts';
import { scoreIn } from './slot-scores.ts';
import type { Slot } from './slot.ts';

/** The parts of a session, and what it needs of its engine. */
export interface SessionParts extends StateSessionParts {
  readonly slot: Slot;
  readonly scored: ScoredModel;
  /** The server can empty a slot; without it the next tokens are told to find nothing. */
  readonly canErase: boolean;
  /** Told when the session is closed, with its last reading. */
  readonly onClose: (last: TokenMeter) => void;
}

/** One slot of a server, its calls one after the other. Every request carries all ids: the server finds what its slot holds. */
export class LlamaServerSession extends StateSession<SessionParts> {
  /** The counts now, whatever call is under way. */
  reading(): TokenMeter {
    return this.parts.slot.meter;
  }

  evaluate(tokens: readonly TokenId[], options: CallOptions = {}): Promise<void> {
    return this.queue.add(options.signal, async () => {
      if (tokens.length === 0) return;
      this.#requireLeast(tokens);
      this.requireSpace(tokens.length, 1);
      const { slot, cells } = this.parts;
      const ids = this.#idsWith(tokens);
      await this.#orForgotten(() => slot.evaluate(ids, cells.nextPosition, options));
      cells.follow([...this.tokens, ...tokens]);
    });
  }

  generate(tokens: readonly TokenId[], limits: GenerationLimits, { signal }: CallOptions = {}): Promise<Generation> {
    const start = performance.now();
    return this.queue.add(undefined, async () => {
      const { maxTokens } = limits;
      if (maxTokens < 1) throw new RangeError(`maxTokens is ${maxTokens}: one token at least is generated`);
      this.#requireLeast(tokens);
      this.requireSpace(tokens.length, maxTokens);
      const { slot, cells } = this.parts;
      const ids = this.#idsWith(tokens);
      try {
        signal?.throwIfAborted();
        const generation = await this.#orForgotten(() =>
          generateIn(slot, ids, cells.nextPosition, limits, { signal, start }),
        );
        const evaluated = generation.stop === 'end' ? generation.tokens : generation.tokens.slice(0, -1);
        const unknown = evaluated.indexOf(UNKNOWN_TOKEN);
        // What follows an id that nobody knows cannot be asked for again.
        cells.follow([...this.tokens, ...tokens, ...evaluated.slice(0, unknown === -1 ? undefined : unknown)]);
        return generation;
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
    options: ScoreOptions = {},
  ): Promise<SequenceScore> {
    return this.queue.add(options.signal, async () => {
      this.#requireLeast(tokens);
      const followed = [...tokens, ...continuation.slice(0, -1)];
      this.requireSpace(followed.length, 1);
      const { slot, cells, scored } = this.parts;
      const ids = this.#idsWith(tokens);
      const score = await this.#orForgotten(() =>
        scoreIn(slot, ids, cells.nextPosition, continuation, scored, options),
      );
      cells.follow([...this.tokens, ...followed]);
      return score;
    });
  }

  /** Waits for the calls that were made before; leaves nothing in the slot. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!(await this.queue.close())) return;
    const { slot, canErase, onClose } = this.parts;
    const last = this.reading();
    try {
      if (canErase) await slot.erase({});
    } finally {
      onClose(last);
    }
  }

  protected async keepFirst(kept: number): Promise<void> {
    const { slot, canErase } = this.parts;
    if (kept === 0 && canErase) await slot.erase({});
  }

  protected eraseWithin(): never {
    this.require('shift');
    throw new Error('llama-server has no call that erases a range of a slot');
  }

  /** The session is empty where the server no longer has it. */
  async #orForgotten<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof BenchError && error.code === 'changed') this.parts.cells.load([], []);
      throw error;
    }
  }

  /** All ids of the session, as the server has them, and more behind them. */
  #idsWith(tokens: readonly TokenId[]): TokenId[] {
    return [...this.tokens.map((token) => (token === UNKNOWN_TOKEN ? PLACEHOLDER_TOKEN : token)), ...tokens];
  }

  #requireLeast({ length }: readonly TokenId[]): void {
    const { leastTokens } = this.parts.capabilities;
    if (length < leastTokens) throw new RangeError(`${length} tokens: ${leastTokens} at least are evaluated at once`);
  }
}
