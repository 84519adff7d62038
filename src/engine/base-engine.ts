import { BenchError } from '../base/bench-error.ts';
import type { EngineAudit } from '../store/records/engine-audit.ts';
import type { BaseSession, SessionParts } from './base-session.ts';
import { SessionCells } from './session-cells.ts';
import type { Checkpoint } from './session-checkpoint.ts';
import { type EngineCapabilities, unsupported } from './engine-capabilities.ts';
import type { EngineInfo } from './engine-info.ts';
import type { CallOptions, EngineSession } from './engine-session.ts';
import { type Engine, type FirstLayersOptions, neededFor, type TokenizeRequest } from './engine.ts';
import type { PromptLedger } from './http/prompt-ledger.ts';
import type { EngineKvStorage } from './llama-state/engine-kv-storage.ts';
import type { TokenIds } from './token-id.ts';
import { meterSum, TokenCounter, type TokenMeter } from './token-meter.ts';

/** What every engine is made of. */
export interface EngineParts {
  readonly info: EngineInfo;
  readonly capabilities: EngineCapabilities;
  readonly tokenizer: Pick<Engine, 'tokenize' | 'detokenize'>;
  /** Missing where KV cannot leave the engine. */
  readonly states?: EngineKvStorage;
  /** Missing for an engine without counters of its own. */
  readonly ledger?: PromptLedger;
}

/** What the engines of all adapters share: a place for each session, the sum of their counts, and the end. */
export abstract class BaseEngine<Parts extends EngineParts = EngineParts> implements Engine {
  readonly info: EngineInfo;
  readonly capabilities: EngineCapabilities;
  protected readonly parts: Parts;
  readonly #sessions = new Map<number, BaseSession>();
  /** Counts of closed sessions, and time that belongs to no session. */
  readonly #others = new TokenCounter();
  #isClosed = false;

  constructor(parts: Parts) {
    this.parts = parts;
    this.info = parts.info;
    this.capabilities = parts.capabilities;
  }

  protected abstract newSession(place: number, parts: Omit<SessionParts, 'exchange'>): BaseSession;

  async tokenize(texts: readonly TokenizeRequest[], options: CallOptions = {}): Promise<readonly TokenIds[]> {
    this.requireOpen(options);
    const start = performance.now();
    try {
      return await this.parts.tokenizer.tokenize(texts, options);
    } finally {
      this.#others.add({ busyMs: performance.now() - start });
    }
  }

  async detokenize(ids: readonly TokenIds[], options: CallOptions = {}): Promise<readonly string[]> {
    this.requireOpen(options);
    return this.parts.tokenizer.detokenize(ids, options);
  }

  async openSession(_scope: string, options: CallOptions = {}): Promise<EngineSession> {
    this.requireOpen(options);
    const { info, capabilities } = this;
    const { sessions } = capabilities;
    const place = Array.from({ length: sessions }, (_, index) => index).find((index) => !this.#sessions.has(index));
    if (place === undefined) {
      const message = `all ${sessions} sessions of the engine are open`;
      throw new BenchError('no-session', message, 'close one, or open the engine with more');
    }
    const onClose = (last: TokenMeter): void => {
      this.#sessions.delete(place);
      this.#others.add(last);
    };
    const session = this.newSession(place, { info, capabilities, cells: new SessionCells(), onClose });
    // At once: another call must not take the same place.
    this.#sessions.set(place, session);
    try {
      await this.prepare(place, options);
    } catch (error) {
      this.#sessions.delete(place);
      throw error;
    }
    return session;
  }

  async firstLayers(_layers: number, options: FirstLayersOptions = {}): Promise<Engine> {
    this.requireOpen({});
    throw unsupported(this.capabilities, neededFor(options));
  }

  async meter(options: CallOptions = {}): Promise<TokenMeter> {
    this.requireOpen(options);
    return [...this.#sessions.values()].reduce(
      (sum, session) => meterSum(sum, session.reading()),
      this.#others.reading,
    );
  }

  async audit(options: CallOptions = {}): Promise<EngineAudit | null> {
    this.requireOpen(options);
    return (await this.parts.ledger?.audit(options)) ?? null;
  }

  async deleteCheckpoint({ id }: Pick<Checkpoint, 'id'>, { signal }: CallOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    this.parts.states?.remove(id);
  }

  /** Closes all sessions after the calls that they were given before. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    using _ = this.parts.states;
    try {
      for (const session of this.#sessions.values()) await session[Symbol.asyncDispose]();
    } finally {
      await this.release();
    }
  }

  /** Makes a place ready for a new session, and checks that the engine is still there. */
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- for engines that have something to do
  protected prepare(_place: number, _options: CallOptions): Promise<void> {
    return Promise.resolve();
  }

  /** Frees what the engine holds, once its sessions are closed. */
  protected release(): Promise<void> {
    return Promise.resolve();
  }

  /** @throws BenchError `no-session` once the engine is closed; the reason of the signal */
  protected requireOpen({ signal }: CallOptions): void {
    if (this.#isClosed) throw new BenchError('no-session', 'the engine is closed', 'open it again');
    signal?.throwIfAborted();
  }
}
