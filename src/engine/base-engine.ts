import { BenchError } from '../base/bench-error.ts';
import type { EngineAudit } from '../store/records/run-probes.ts';
import type { BaseSession } from './base-session.ts';
import type { Checkpoint } from './checkpoint.ts';
import { type EngineCapabilities, unsupported } from './engine-capabilities.ts';
import type { EngineInfo } from './engine-info.ts';
import type { CallOptions, EngineSession } from './engine-session.ts';
import { type Engine, type FirstLayersOptions, neededFor, type TokenizeRequest } from './engine.ts';
import type { TokenIds } from './token-id.ts';
import { meterSum, type TokenMeter, zeroMeter } from './token-meter.ts';

/** What the engines of all adapters share: a place for each session, the sum of their counts, and the end. */
export abstract class BaseEngine implements Engine {
  readonly info: EngineInfo;
  readonly capabilities: EngineCapabilities;
  readonly #sessions = new Map<number, BaseSession>();
  /** Counts of closed sessions, and time that belongs to no session. */
  #otherMeter: TokenMeter = zeroMeter;
  #isClosed = false;

  constructor(info: EngineInfo, capabilities: EngineCapabilities) {
    this.info = info;
    this.capabilities = capabilities;
  }

  protected abstract tokenizeNow(texts: readonly TokenizeRequest[], options: CallOptions): Promise<readonly TokenIds[]>;
  protected abstract detokenizeNow(ids: readonly TokenIds[], options: CallOptions): Promise<readonly string[]>;
  /** @param place of the session among those that are open */
  protected abstract newSession(place: number, onClose: (last: TokenMeter) => void): BaseSession;
  /** Frees what the engine holds, once its sessions are closed. */
  protected abstract release(): Promise<void>;

  async tokenize(texts: readonly TokenizeRequest[], options: CallOptions = {}): Promise<readonly TokenIds[]> {
    this.requireOpen(options);
    const start = performance.now();
    try {
      return await this.tokenizeNow(texts, options);
    } finally {
      this.#count({ ...zeroMeter, busyMs: performance.now() - start });
    }
  }

  async detokenize(ids: readonly TokenIds[], options: CallOptions = {}): Promise<readonly string[]> {
    this.requireOpen(options);
    return this.detokenizeNow(ids, options);
  }

  async openSession(_scope: string, options: CallOptions = {}): Promise<EngineSession> {
    this.requireOpen(options);
    const { sessions } = this.capabilities;
    const place = Array.from({ length: sessions }, (_, index) => index).find((index) => !this.#sessions.has(index));
    if (place === undefined) {
      const message = `all ${sessions} sessions of the engine are open`;
      throw new BenchError('no-session', message, 'close one, or open the engine with more');
    }
    const session = this.newSession(place, (last) => {
      this.#sessions.delete(place);
      this.#count(last);
    });
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
    return [...this.#sessions.values()].reduce((sum, session) => meterSum(sum, session.reading()), this.#otherMeter);
  }

  async audit(options: CallOptions = {}): Promise<EngineAudit | null> {
    this.requireOpen(options);
    return null;
  }

  async deleteCheckpoint(_: Pick<Checkpoint, 'id'>, { signal }: CallOptions = {}): Promise<void> {
    signal?.throwIfAborted();
  }

  /** Closes all sessions after the calls that they were given before. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      for (const session of this.#sessions.values()) await session[Symbol.asyncDispose]();
    } finally {
      await this.release();
    }
  }

  /** Makes a place ready for a new session, and checks that the engine is still there. */
  protected abstract prepare(place: number, options: CallOptions): Promise<void>;

  /** @throws BenchError `no-session` once the engine is closed; the reason of the signal */
  protected requireOpen({ signal }: CallOptions): void {
    if (this.#isClosed) throw new BenchError('no-session', 'the engine is closed', 'open it again');
    signal?.throwIfAborted();
  }

  #count(counts: TokenMeter): void {
    this.#otherMeter = meterSum(this.#otherMeter, counts);
  }
}
