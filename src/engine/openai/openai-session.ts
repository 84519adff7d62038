import type {
  CallOptions,
  ClearOptions,
  EngineSession,
  Generation,
  GenerationLimits,
  ScoreOptions,
} from '../engine-session.ts';
import { CallQueue } from '../call-queue.ts';
import { type CapabilityName, type EngineCapabilities, unsupported } from '../engine-capabilities.ts';
import { type EngineInfo, requireSpace } from '../engine-info.ts';
import type { SequenceScore } from '../sequence-score.ts';
import { requireRange, type TokenId, type TokenRange, UNKNOWN_TOKEN } from '../token-id.ts';
import type { TokenMeter } from '../token-meter.ts';
import { type CallParts, NamedCalls } from './named-calls.ts';

/** Parts of the engine that a session needs. */
export interface SessionParts extends CallParts {
  readonly info: EngineInfo;
  readonly capabilities: EngineCapabilities;
  /** Told when the session is closed, with its last reading. */
  readonly onClose: (last: TokenMeter) => void;
}

/** A list of ids, sent whole with every call: the server keeps of it what its cache may find. Calls run one after the other. */
export class OpenAiSession implements EngineSession {
  readonly #parts: SessionParts;
  readonly #calls: NamedCalls;
  readonly #queue = new CallQueue();
  #tokens: readonly TokenId[] = [];

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#calls = new NamedCalls(parts);
  }

  get tokens(): readonly TokenId[] {
    return this.#tokens;
  }

  get cells(): number {
    return this.#tokens.length;
  }

  /** The counts now, whatever call is under way. */
  reading(): TokenMeter {
    return this.#calls.meter;
  }

  evaluate(tokens: readonly TokenId[], options: CallOptions = {}): Promise<void> {
    return this.#queue.add(options.signal, async () => {
      if (tokens.length === 0) return;
      this.#requireLeast(tokens);
      this.#requireSpace(tokens.length, 1);
      const ids = [...this.#tokens, ...tokens];
      await this.#calls.evaluate(ids, options);
      this.#tokens = ids;
    });
  }

  generate(tokens: readonly TokenId[], limits: GenerationLimits, { signal }: CallOptions = {}): Promise<Generation> {
    const start = performance.now();
    return this.#queue.add(undefined, async () => {
      const { maxTokens } = limits;
      if (maxTokens < 1) throw new RangeError(`maxTokens is ${maxTokens}: one token at least is generated`);
      this.#requireLeast(tokens);
      this.#requireSpace(tokens.length, maxTokens);
      const ids = [...this.#tokens, ...tokens];
      try {
        signal?.throwIfAborted();
        const generation = await this.#calls.generate(ids, limits, { signal, start });
        const evaluated = generation.stop === 'end' ? generation.tokens : generation.tokens.slice(0, -1);
        const unknown = evaluated.indexOf(UNKNOWN_TOKEN);
        // What follows an id that nobody knows cannot be asked for again.
        this.#tokens = [...ids, ...evaluated.slice(0, unknown === -1 ? undefined : unknown)];
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
    { distributions = false, signal }: ScoreOptions = {},
  ): Promise<SequenceScore> {
    return this.#queue.add(signal, async () => {
      const { scoring } = this.#parts;
      if (scoring === null) return this.#refuse('logProbabilities');
      this.#requireLeast(tokens);
      const followed = [...tokens, ...continuation.slice(0, -1)];
      this.#requireSpace(followed.length, 1);
      const ids = [...this.#tokens, ...tokens];
      const score = await this.#calls.score(ids, continuation, scoring, { distributions, signal });
      this.#tokens = [...this.#tokens, ...followed];
      return score;
    });
  }

  truncate(length: number, { signal }: CallOptions = {}): Promise<void> {
    return this.#queue.add(signal, () => this.#truncateNow(length));
  }

  erase({ start, end }: TokenRange, { signal }: CallOptions = {}): Promise<void> {
    return this.#queue.add(signal, () => {
      requireRange({ start, end }, this.#tokens.length, 'positions');
      if (start === end) return;
      if (end < this.#tokens.length) this.#refuse('shift');
      this.#truncateNow(start);
    });
  }

  clear({ signal, cacheScope }: ClearOptions = {}): Promise<void> {
    return this.#queue.add(signal, () => {
      this.#tokens = [];
      this.#calls.rename(cacheScope);
    });
  }

  meter({ signal }: CallOptions = {}): Promise<TokenMeter> {
    return this.#queue.add(signal, () => this.reading());
  }

  /** The server lists no ids of what it holds. */
  readBack({ signal }: CallOptions = {}): Promise<null> {
    return this.#queue.add(signal, () => null);
  }

  checkpoint({ signal }: CallOptions = {}): Promise<never> {
    return this.#queue.add(signal, () => this.#refuse('checkpoints'));
  }

  restore(_: unknown, { signal }: CallOptions = {}): Promise<never> {
    return this.#queue.add(signal, () => this.#refuse('checkpoints'));
  }

  exportCells(_?: unknown, { signal }: CallOptions = {}): Promise<never> {
    return this.#queue.add(signal, () => this.#refuse('cells'));
  }

  importCells(_: unknown, { signal }: CallOptions = {}): Promise<never> {
    return this.#queue.add(signal, () => this.#refuse('cells'));
  }

  /** Waits for the calls that were made before. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (await this.#queue.close()) this.#parts.onClose(this.reading());
  }

  #truncateNow(length: number): void {
    const end = this.#tokens.length;
    if (!Number.isInteger(length) || length < 0 || length > end) {
      throw new RangeError(`cannot truncate a sequence of ${end} tokens to ${length}`);
    }
    this.#tokens = this.#tokens.slice(0, length);
    this.#calls.cut(length);
  }

  #requireLeast({ length }: readonly TokenId[]): void {
    const { leastTokens } = this.#parts.capabilities;
    if (length < leastTokens) throw new RangeError(`${length} tokens: ${leastTokens} at least are evaluated at once`);
  }

  #requireSpace(tokens: number, reserve: number): void {
    const all = this.#tokens.length + tokens;
    requireSpace(this.#parts.info, all, all, reserve);
  }

  /** @throws BenchError `unsupported` */
  #refuse(name: CapabilityName): never {
    throw unsupported(this.#parts.capabilities, name);
  }
}
