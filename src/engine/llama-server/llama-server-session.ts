import { BenchError } from '../../config/bench-error.ts';
import type { CallOptions } from '../call-options.ts';
import { CallQueue } from '../call-queue.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { type CapabilityName, type EngineCapabilities, missingCapability } from '../engine-capabilities.ts';
import type { EngineInfo } from '../engine-info.ts';
import type { CheckpointOptions, EngineSession, ScoreOptions } from '../engine-session.ts';
import type { Generation, GenerationLimits } from '../generation.ts';
import { type SessionCells, UNKNOWN_TOKEN } from '../llama-state/session-cells.ts';
import type { StateExchange } from '../llama-state/state-exchange.ts';
import { PLACEHOLDER_TOKEN } from '../llama-state/state-file.ts';
import type { SequenceScore } from '../sequence-score.ts';
import type { SequenceState } from '../sequence-state.ts';
import { requireRange, type TokenId, type TokenRange } from '../token-id.ts';
import type { TokenMeter } from '../token-meter.ts';
import { requireSpace } from '../window.ts';
import { generateIn } from './slot-generation.ts';
import { scoreIn, type ScoredModel } from './slot-scores.ts';
import type { Slot } from './slot.ts';

/** The parts of a session, and what it needs of its engine. */
export interface SessionParts {
  readonly slot: Slot;
  readonly cells: SessionCells;
  /** Null where K/V cannot leave the server. */
  readonly exchange: StateExchange | null;
  readonly info: EngineInfo;
  readonly capabilities: EngineCapabilities;
  readonly scored: ScoredModel;
  /** The server can empty a slot; without it the next tokens are told to find nothing. */
  readonly canErase: boolean;
  /** Told when the session is closed, with its last reading. */
  readonly onClose: (last: TokenMeter) => void;
}

/** One slot of a server, its calls one after the other. Every request carries all ids: the server finds what its slot holds. */
export class LlamaServerSession implements EngineSession {
  readonly #parts: SessionParts;
  readonly #queue = new CallQueue();

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  get tokens(): readonly TokenId[] {
    return this.#parts.cells.tokensByPosition();
  }

  get cells(): number {
    return this.#parts.cells.count;
  }

  /** The counts now, whatever call is under way. */
  reading(): TokenMeter {
    return this.#parts.slot.meter;
  }

  evaluate(tokens: readonly TokenId[], options: CallOptions = {}): Promise<void> {
    return this.#queue.add(options.signal, async () => {
      if (tokens.length === 0) return;
      this.#requireLeast(tokens);
      this.#requireSpace(tokens.length, 1);
      const { slot, cells } = this.#parts;
      const ids = this.#idsWith(tokens);
      await this.#orForgotten(() => slot.evaluate(ids, cells.nextPosition, options));
      cells.follow([...this.tokens, ...tokens]);
    });
  }

  generate(tokens: readonly TokenId[], limits: GenerationLimits, { signal }: CallOptions = {}): Promise<Generation> {
    const start = performance.now();
    return this.#queue.add(undefined, async () => {
      const { maxTokens } = limits;
      if (maxTokens < 1) throw new RangeError(`maxTokens is ${maxTokens}: one token at least is generated`);
      this.#requireLeast(tokens);
      this.#requireSpace(tokens.length, maxTokens);
      const { slot, cells } = this.#parts;
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
    return this.#queue.add(options.signal, async () => {
      this.#requireLeast(tokens);
      const followed = [...tokens, ...continuation.slice(0, -1)];
      this.#requireSpace(followed.length, 1);
      const { slot, cells, scored } = this.#parts;
      const ids = this.#idsWith(tokens);
      const score = await this.#orForgotten(() =>
        scoreIn(slot, ids, cells.nextPosition, continuation, scored, options),
      );
      cells.follow([...this.tokens, ...followed]);
      return score;
    });
  }

  truncate(length: number, { signal }: CallOptions = {}): Promise<void> {
    return this.#queue.add(signal, () => this.#truncate(length));
  }

  erase({ start, end }: TokenRange, { signal }: CallOptions = {}): Promise<void> {
    return this.#queue.add(signal, async () => {
      const { cells } = this.#parts;
      requireRange({ start, end }, cells.nextPosition, 'positions');
      if (start === end) return;
      if (end === cells.nextPosition) return this.#truncate(start);
      throw this.#lacking('shift')!;
    });
  }

  clear({ signal }: CallOptions = {}): Promise<void> {
    return this.#queue.add(signal, () => this.#truncate(0));
  }

  meter({ signal }: CallOptions = {}): Promise<TokenMeter> {
    return this.#queue.add(signal, () => this.reading());
  }

  readBack({ signal }: CallOptions = {}): Promise<readonly TokenId[] | null> {
    return this.#queue.add(signal, () => null);
  }

  checkpoint({ id, signal }: CheckpointOptions = {}): Promise<Checkpoint> {
    return this.#queue.add(signal, () => this.#exchange('checkpoints').checkpoint(id));
  }

  restore(checkpoint: Checkpoint, { signal }: CallOptions = {}): Promise<void> {
    return this.#queue.add(signal, () => this.#exchange('checkpoints').restore(checkpoint));
  }

  exportCells(range?: TokenRange, { signal }: CallOptions = {}): Promise<SequenceState> {
    return this.#queue.add(signal, () => {
      const exchange = this.#exchange('cells');
      const wanted = range ?? { start: 0, end: this.cells };
      requireRange(wanted, this.cells, 'cells');
      return exchange.export(wanted);
    });
  }

  importCells(state: SequenceState, { signal }: CallOptions = {}): Promise<void> {
    return this.#queue.add(signal, () => this.#exchange('cells').import(state));
  }

  /** Waits for the calls that were made before; leaves nothing in the slot. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!(await this.#queue.close())) return;
    const { slot, canErase, onClose } = this.#parts;
    const last = this.reading();
    try {
      if (canErase) await slot.erase({});
    } finally {
      onClose(last);
    }
  }

  async #truncate(length: number): Promise<void> {
    const { cells, slot, canErase } = this.#parts;
    const end = cells.nextPosition;
    if (!Number.isInteger(length) || length < 0 || length > end) {
      throw new RangeError(`cannot truncate a sequence of ${end} tokens to ${length}`);
    }
    // The next token always stands behind a cell, so that a gap at the end goes too.
    const kept = cells.endBelow(length);
    if (kept === end) return;
    if (kept === 0 && canErase) await slot.erase({});
    cells.erase(kept, end);
  }

  /** The session is empty where the server no longer has it. */
  async #orForgotten<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof BenchError && error.code === 'changed') this.#parts.cells.load([], []);
      throw error;
    }
  }

  /** All ids of the session, as the server has them, and more behind them. */
  #idsWith(tokens: readonly TokenId[]): TokenId[] {
    return [...this.tokens.map((token) => (token === UNKNOWN_TOKEN ? PLACEHOLDER_TOKEN : token)), ...tokens];
  }

  #requireLeast({ length }: readonly TokenId[]): void {
    const { leastTokens } = this.#parts.capabilities;
    if (length < leastTokens) throw new RangeError(`${length} tokens: ${leastTokens} at least are evaluated at once`);
  }

  #requireSpace(tokens: number, reserve: number): void {
    const { cells, info } = this.#parts;
    requireSpace(info, cells.count + tokens, cells.nextPosition + tokens, reserve);
  }

  #exchange(name: CapabilityName): StateExchange {
    const lacking = this.#lacking(name);
    if (lacking !== undefined) throw lacking;
    return this.#parts.exchange!;
  }

  #lacking(name: CapabilityName): BenchError | undefined {
    const missing = missingCapability(this.#parts.capabilities, [name]);
    if (missing === undefined) return undefined;
    return new BenchError('unsupported', `${name}: ${missing.why}`, 'choose another arm, model or engine');
  }
}
