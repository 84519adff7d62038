import { BenchError } from '../base/bench-error.ts';
import type {
  CallOptions,
  Checkpoint,
  CheckpointOptions,
  ClearOptions,
  EngineSession,
  Generation,
  GenerationLimits,
  RestoreOptions,
  ScoreOptions,
} from './engine-session.ts';
import { type CapabilityName, type EngineCapabilities, requireCapability } from './engine-capabilities.ts';
import type { EngineInfo } from './engine-info.ts';
import { type SequenceState, type SessionCells, requireSpace } from './sequence-state.ts';
import type { KvTransfer } from './llama-state/kv-transfer.ts';
import type { SequenceScore } from './sequence-score.ts';
import { requireRange, type TokenIds, type TokenRange } from './token-id.ts';
import type { TokenMeter } from './token-meter.ts';

/** Parts that an engine passes to its sessions. */
export interface SessionParts {
  readonly cells: SessionCells;
  /** Null if KV cannot leave the engine. */
  readonly exchange: Pick<KvTransfer, 'export' | 'import' | 'checkpoint' | 'restore' | typeof Symbol.dispose> | null;
  readonly info: EngineInfo;
  readonly capabilities: EngineCapabilities;
  /** Called with the final counts when the session closes. */
  readonly onClose: (last: TokenMeter) => void;
}

export interface GenerateOptions extends CallOptions {
  /** Start of the call, on the clock of `performance.now()`. */
  readonly start: number;
}

/** A generation whose decoding is timed by `BaseSession`. */
export type UntimedGeneration = Omit<Generation, 'decodeMs'>;

/** Code shared by all sessions: a queue of calls, checked arguments, the list of cells. */
export abstract class BaseSession<Parts extends SessionParts = SessionParts> implements EngineSession {
  protected readonly parts: Parts;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  get tokens(): TokenIds {
    return this.parts.cells.tokensByPosition();
  }

  get cells(): number {
    return this.parts.cells.count;
  }

  abstract reading(): TokenMeter;
  protected abstract evaluateNow(tokens: TokenIds, options: CallOptions): Promise<void>;
  protected abstract generateNow(
    tokens: TokenIds,
    limits: GenerationLimits,
    options: GenerateOptions,
  ): Promise<UntimedGeneration>;
  protected abstract scoreNow(tokens: TokenIds, continuation: TokenIds, options: ScoreOptions): Promise<SequenceScore>;
  /** Drops the engine's KV from position `kept` on. The caller then updates the list of cells. */
  protected abstract keepFirst(kept: number): Promise<void>;

  evaluate(tokens: TokenIds, options: CallOptions = {}): Promise<void> {
    return this.#queue(options.signal, async () => {
      if (tokens.length === 0) return;
      this.#requireLeast(tokens);
      this.#requireSpace(tokens.length, 1);
      await this.evaluateNow(tokens, options);
    });
  }

  generate(tokens: TokenIds, limits: GenerationLimits, { signal }: CallOptions = {}): Promise<Generation> {
    const start = performance.now();
    return this.#queue(undefined, async () => {
      const { maxTokens } = limits;
      if (maxTokens < 1) throw new RangeError(`maxTokens is ${maxTokens}, expected at least 1`);
      this.#requireLeast(tokens);
      this.#requireSpace(tokens.length, maxTokens);
      try {
        signal?.throwIfAborted();
        const generation = await this.generateNow(tokens, limits, { signal, start });
        // Until the call ends, not until the last token: a server ends its answer some time later.
        return { ...generation, decodeMs: performance.now() - start - generation.firstTokenMs };
      } catch (error) {
        if (signal?.aborted !== true || error !== signal.reason) throw error;
        const firstTokenMs = performance.now() - start;
        return { tokens: [], text: '', thoughtTokens: 0, stop: 'aborted', firstTokenMs, decodeMs: 0, retries: [] };
      }
    });
  }

  score(tokens: TokenIds, continuation: TokenIds, options: ScoreOptions = {}): Promise<SequenceScore> {
    return this.#queue(options.signal, async () => {
      this.require('logProbabilities');
      this.#requireLeast(tokens);
      this.#requireSpace(tokens.length + Math.max(0, continuation.length - 1), 1);
      return this.scoreNow(tokens, continuation, options);
    });
  }

  truncate(length: number, { signal }: CallOptions = {}): Promise<void> {
    return this.#queue(signal, () => this.truncateNow(length));
  }

  erase({ start, end }: TokenRange, { signal }: CallOptions = {}): Promise<void> {
    return this.#queue(signal, async () => {
      const { cells } = this.parts;
      const { nextPosition } = cells;
      requireRange({ start, end }, nextPosition, 'positions');
      if (start === end) return;
      if (end === nextPosition) return this.truncateNow(start);
      this.require('shift');
      if (start <= cells.firstPosition) {
        throw new RangeError(`cannot erase from position ${start} on: a session keeps its first cell`);
      }
      await this.shift!({ start, end });
      cells.erase(start, end);
    });
  }

  clear(options: ClearOptions = {}): Promise<void> {
    return this.#queue(options.signal, () => this.clearNow(options));
  }

  meter({ signal }: CallOptions = {}): Promise<TokenMeter> {
    return this.#queue(signal, () => this.reading());
  }

  checkpoint({ id, signal }: CheckpointOptions = {}): Promise<Checkpoint> {
    return this.#queue(signal, () => this.#exchange('checkpoints').checkpoint(id));
  }

  restore(checkpoint: Checkpoint, { signal, spent }: RestoreOptions = {}): Promise<void> {
    return this.#queue(signal, () => this.#exchange('checkpoints').restore(checkpoint, spent));
  }

  exportCells(range?: TokenRange, { signal }: CallOptions = {}): Promise<SequenceState> {
    return this.#queue(signal, () => {
      const exchange = this.#exchange('cells');
      const wanted = range ?? { start: 0, end: this.cells };
      requireRange(wanted, this.cells, 'cells');
      return exchange.export(wanted);
    });
  }

  importCells(state: SequenceState, { signal }: CallOptions = {}): Promise<void> {
    return this.#queue(signal, () => this.#exchange('cells').import(state));
  }

  /** Waits for queued calls. */
  async [Symbol.asyncDispose](): Promise<void> {
    const isFirst = !this.#isClosed;
    this.#isClosed = true;
    await this.#last;
    if (!isFirst) return;
    const last = this.reading();
    using _ = this.parts.exchange;
    try {
      await this.release?.();
    } finally {
      this.parts.onClose(last);
    }
  }

  /** Frees the session's resources in the engine. */
  protected release?(): Promise<void>;

  /** Erases a range in the middle of the engine's KV; later tokens move up. Needed for capability `shift`. */
  protected shift?(range: TokenRange): Promise<void>;

  /** Empties the session. Engines with cache scopes also switch to the scope in the options. */
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- overriding sessions with cache scopes use them
  protected clearNow(_options: ClearOptions): Promise<void> {
    return this.truncateNow(0);
  }

  protected async truncateNow(length: number): Promise<void> {
    const { cells } = this.parts;
    const end = cells.nextPosition;
    if (!Number.isInteger(length) || length < 0 || length > end) {
      throw new RangeError(`cannot truncate a sequence of ${end} tokens to ${length}`);
    }
    // llama.cpp can only append directly after the last cell, so a gap before `length` is dropped too.
    const kept = cells.endBelow(length);
    if (kept === end) return;
    await this.keepFirst(kept);
    cells.erase(kept, end);
  }

  protected require(name: CapabilityName): void {
    requireCapability(this.parts.capabilities, name);
  }

  /** Runs a call after all earlier ones. Rejects with the signal's reason if it is aborted by then. */
  async #queue<T>(signal: AbortSignal | undefined, call: () => T | Promise<T>): Promise<T> {
    if (this.#isClosed) throw new BenchError('no-session', 'the session is closed', 'open another');
    const result = this.#last.then(() => {
      signal?.throwIfAborted();
      return call();
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  #requireLeast({ length }: TokenIds): void {
    const { leastTokens } = this.parts.capabilities;
    if (length < leastTokens)
      throw new RangeError(`too few tokens: ${length}; the engine evaluates at least ${leastTokens} at once`);
  }

  #requireSpace(tokens: number, reserve: number): void {
    const { cells, info } = this.parts;
    requireSpace(info, cells.count + tokens, cells.nextPosition + tokens, reserve);
  }

  #exchange(name: CapabilityName): NonNullable<SessionParts['exchange']> {
    this.require(name);
    return this.parts.exchange!;
  }
}
