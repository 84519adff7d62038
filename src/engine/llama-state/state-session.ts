import type {
  CallOptions,
  CheckpointOptions,
  EngineSession,
  Generation,
  GenerationLimits,
  ScoreOptions,
} from '../engine-session.ts';
import { CallQueue } from '../call-queue.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { type CapabilityName, type EngineCapabilities, requireCapability } from '../engine-capabilities.ts';
import { type EngineInfo, requireSpace } from '../engine-info.ts';
import type { SequenceScore } from '../sequence-score.ts';
import type { SequenceState } from '../sequence-state.ts';
import { requireRange, type TokenId, type TokenRange } from '../token-id.ts';
import type { TokenMeter } from '../token-meter.ts';
import type { SessionCells } from './session-cells.ts';
import type { StateExchange } from './state-exchange.ts';

/** Parts of every session with llama.cpp's state. */
export interface StateSessionParts {
  readonly cells: SessionCells;
  /** Null where K/V cannot leave the engine. */
  readonly exchange: StateExchange | null;
  readonly info: EngineInfo;
  readonly capabilities: EngineCapabilities;
}

/** The calls of a session that concern its book of cells and its K/V, wherever llama.cpp runs; one after the other. */
export abstract class StateSession<Parts extends StateSessionParts> implements EngineSession {
  protected readonly parts: Parts;
  protected readonly queue = new CallQueue();

  constructor(parts: Parts) {
    this.parts = parts;
  }

  get tokens(): readonly TokenId[] {
    return this.parts.cells.tokensByPosition();
  }

  get cells(): number {
    return this.parts.cells.count;
  }

  /** The counts now, whatever call is under way. */
  abstract reading(): TokenMeter;
  abstract evaluate(tokens: readonly TokenId[], options?: CallOptions): Promise<void>;
  abstract generate(tokens: readonly TokenId[], limits: GenerationLimits, options?: CallOptions): Promise<Generation>;
  abstract score(
    tokens: readonly TokenId[],
    continuation: readonly TokenId[],
    options?: ScoreOptions,
  ): Promise<SequenceScore>;
  abstract [Symbol.asyncDispose](): Promise<void>;
  /** Drops all of the engine's K/V behind the first `kept` positions; the book of cells follows. */
  protected abstract keepFirst(kept: number): Promise<void>;
  /** Erases a range with tokens behind it, which move up. */
  protected abstract eraseWithin(range: TokenRange): Promise<void>;

  truncate(length: number, { signal }: CallOptions = {}): Promise<void> {
    return this.queue.add(signal, () => this.truncateNow(length));
  }

  erase({ start, end }: TokenRange, { signal }: CallOptions = {}): Promise<void> {
    return this.queue.add(signal, async () => {
      const { nextPosition } = this.parts.cells;
      requireRange({ start, end }, nextPosition, 'positions');
      if (start === end) return;
      await (end === nextPosition ? this.truncateNow(start) : this.eraseWithin({ start, end }));
    });
  }

  clear({ signal }: CallOptions = {}): Promise<void> {
    return this.queue.add(signal, () => this.truncateNow(0));
  }

  meter({ signal }: CallOptions = {}): Promise<TokenMeter> {
    return this.queue.add(signal, () => this.reading());
  }

  readBack({ signal }: CallOptions = {}): Promise<readonly TokenId[] | null> {
    return this.queue.add(signal, () => null);
  }

  checkpoint({ id, signal }: CheckpointOptions = {}): Promise<Checkpoint> {
    return this.queue.add(signal, () => this.#exchange('checkpoints').checkpoint(id));
  }

  restore(checkpoint: Checkpoint, { signal }: CallOptions = {}): Promise<void> {
    return this.queue.add(signal, () => this.#exchange('checkpoints').restore(checkpoint));
  }

  exportCells(range?: TokenRange, { signal }: CallOptions = {}): Promise<SequenceState> {
    return this.queue.add(signal, () => {
      const exchange = this.#exchange('cells');
      const wanted = range ?? { start: 0, end: this.cells };
      requireRange(wanted, this.cells, 'cells');
      return exchange.export(wanted);
    });
  }

  importCells(state: SequenceState, { signal }: CallOptions = {}): Promise<void> {
    return this.queue.add(signal, () => this.#exchange('cells').import(state));
  }

  protected async truncateNow(length: number): Promise<void> {
    const { cells } = this.parts;
    const end = cells.nextPosition;
    if (!Number.isInteger(length) || length < 0 || length > end) {
      throw new RangeError(`cannot truncate a sequence of ${end} tokens to ${length}`);
    }
    // llama.cpp evaluates directly behind the last cell alone, so that a gap at the end goes too.
    const kept = cells.endBelow(length);
    if (kept === end) return;
    await this.keepFirst(kept);
    cells.erase(kept, end);
  }

  protected requireSpace(tokens: number, reserve: number): void {
    const { cells, info } = this.parts;
    requireSpace(info, cells.count + tokens, cells.nextPosition + tokens, reserve);
  }

  /** @throws BenchError `unsupported` */
  protected require(name: CapabilityName): void {
    requireCapability(this.parts.capabilities, name);
  }

  #exchange(name: CapabilityName): StateExchange {
    this.require(name);
    return this.parts.exchange!;
  }
}
