import { BenchError } from '../base/bench-error.ts';
import type { PromptTokenAudit } from '../store/records/prompt-token-audit.ts';
import type { BaseSession, SessionParts } from './base-session.ts';
import { SessionCells } from './sequence-state.ts';
import type { CallOptions, Checkpoint, EngineSession } from './engine-session.ts';
import { type EngineCapabilities, unsupported } from './engine-capabilities.ts';
import type { EngineInfo } from './engine-info.ts';
import { type Engine, type FirstLayersOptions, firstLayersCapability, type TokenizeRequest } from './engine.ts';
import type { PromptTokenLedger } from './http/prompt-token-ledger.ts';
import type { EngineKvStorage } from './llama-state/engine-kv-storage.ts';
import type { TokenIds } from './token-id.ts';
import { meterSum, TokenCounter, type TokenMeter } from './token-meter.ts';

/** Parts that an adapter passes to its engine. */
export interface EngineParts {
  readonly info: EngineInfo;
  readonly capabilities: EngineCapabilities;
  readonly tokenizer: Pick<Engine, 'tokenize' | 'detokenize'>;
  /** Missing if KV cannot leave the engine. */
  readonly states?: EngineKvStorage;
  /** Missing if the engine has no token counters to compare with. */
  readonly ledger?: PromptTokenLedger;
}

/** Code shared by all engines: session slots, summed counts, closing. */
export abstract class BaseEngine<Parts extends EngineParts = EngineParts> implements Engine {
  readonly info: EngineInfo;
  readonly capabilities: EngineCapabilities;
  protected readonly parts: Parts;
  readonly #sessions = new Map<number, BaseSession>();
  /** Counts of closed sessions, and time spent outside sessions, such as tokenising. */
  readonly #others = new TokenCounter();
  #isClosed = false;

  constructor(parts: Parts) {
    this.parts = parts;
    this.info = parts.info;
    this.capabilities = parts.capabilities;
  }

  protected abstract newSession(index: number, parts: Omit<SessionParts, 'exchange'>): BaseSession;

  async tokenize(texts: readonly TokenizeRequest[], options: CallOptions = {}): Promise<readonly TokenIds[]> {
    this.requireOpen(options);
    return this.#others.time(() => this.parts.tokenizer.tokenize(texts, options));
  }

  async detokenize(ids: readonly TokenIds[], options: CallOptions = {}): Promise<readonly string[]> {
    this.requireOpen(options);
    return this.parts.tokenizer.detokenize(ids, options);
  }

  async openSession(_scope: string, options: CallOptions = {}): Promise<EngineSession> {
    this.requireOpen(options);
    const { info, capabilities } = this;
    const { sessions } = capabilities;
    const index = Array.from({ length: sessions }, (_, slot) => slot).find((slot) => !this.#sessions.has(slot));
    if (index === undefined) {
      const message = `all ${sessions} sessions of the engine are open`;
      throw new BenchError('no-session', message, 'close one, or open the engine with more sessions');
    }
    const onClose = (last: TokenMeter): void => {
      this.#sessions.delete(index);
      this.#others.add(last);
    };
    const session = this.newSession(index, { info, capabilities, cells: new SessionCells(), onClose });
    // Before the first await, or a concurrent call would take the same index.
    this.#sessions.set(index, session);
    try {
      await this.prepare?.(index, options);
    } catch (error) {
      this.#sessions.delete(index);
      throw error;
    }
    return session;
  }

  async firstLayers(_layers: number, options: FirstLayersOptions = {}): Promise<Engine> {
    this.requireOpen({});
    throw unsupported(this.capabilities, firstLayersCapability(options));
  }

  async meter(options: CallOptions = {}): Promise<TokenMeter> {
    this.requireOpen(options);
    return [...this.#sessions.values()].reduce(
      (sum, session) => meterSum(sum, session.reading()),
      this.#others.reading,
    );
  }

  async audit(options: CallOptions = {}): Promise<PromptTokenAudit | null> {
    this.requireOpen(options);
    return (await this.parts.ledger?.audit(options)) ?? null;
  }

  async deleteCheckpoint({ id }: Pick<Checkpoint, 'id'>, { signal }: CallOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    this.parts.states?.remove(id);
  }

  /** Closes all sessions; each finishes its queued calls first. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    using _ = this.parts.states;
    try {
      for (const session of this.#sessions.values()) await session[Symbol.asyncDispose]();
    } finally {
      await this.release?.();
    }
  }

  /** Prepares a new session; engines behind HTTP also check that the server still has the same model. */
  protected prepare?(sessionIndex: number, options: CallOptions): Promise<void>;

  /** Frees the engine's resources, after its sessions are closed. */
  protected release?(): Promise<void>;

  /** @throws BenchError `no-session` if the engine is closed; the signal's reason if aborted */
  protected requireOpen({ signal }: CallOptions): void {
    if (this.#isClosed) throw new BenchError('no-session', 'the engine is closed', 'open it again');
    signal?.throwIfAborted();
  }
}
