import { BenchError } from '../../base/bench-error.ts';
import type { Engine } from '../../engine/engine.ts';
import type { TokenId } from '../../engine/token-id.ts';
import { writeBlockFile } from '../../kv/block-file.ts';
import type { Eviction } from '../../kv/eviction-scores.ts';
import type { KvStore } from '../../kv/kv-store.ts';
import type { KvTools } from '../../kv/kv-tools.ts';
import type { StoreType } from '../../store/records/prefill-record.ts';
import {
  computeExactly,
  isBadState,
  isBlockOf,
  isLeftOf,
  requireInSession,
  requireTokens,
  tokensByPosition,
} from './exact-tokens.ts';
import type { Prefilled, TurnContext } from './prefill-strategy.ts';
import { cutPrefix, exportPrefix, importScaled, type PrefixCut, wholePrefix } from './scale-prefix.ts';

/** Header and memories as one token sequence, and the key of its KV. */
export interface ExactPrefix {
  readonly key: string;
  readonly tokenIds: readonly TokenId[];
  /** Those ahead of the first memory. */
  readonly headerTokens: number;
  /** The memories that it contains, for forgetting. */
  readonly memoryIds: readonly string[];
}

/** A prefix that is in the session, in front of the suffix. */
export interface LoadedPrefix {
  readonly sizeBytes: number;
  /** Fewer than tokens where some were evicted. */
  readonly cells: number;
  readonly origin: 'resident' | 'disk' | 'computed';
}

/** A prefix that was computed in the session of a turn; `keep` stores it after the answer. */
export interface ComputedPrefix {
  readonly loaded: LoadedPrefix;
  readonly computeMs: number;
  readonly keep: NonNullable<Prefilled['keep']>;
}

/** All that stores of prefixes need. */
export interface PrefixStoreParts {
  readonly engine: Engine;
  readonly store: KvStore;
  readonly kv: KvTools;
  /** Drops tokens of the memories before they are stored, never of what precedes them; null for none. */
  readonly evict: Eviction | null;
  /** The type in which cells are stored. */
  readonly keptAs: StoreType;
}

/** One form in which the KV of exact prefixes is stored; stored values are never scaled. */
export interface PrefixStore {
  /** Brings a prefix into the session, scaled; undefined where none is stored, or what is stored cannot be used. */
  load(prefix: ExactPrefix, turn: TurnContext): Promise<LoadedPrefix | undefined>;
  /**
   * Evaluates a prefix in the session and scales it there.
   * @throws BenchError `bad-state` where the engine evaluates other tokens twice
   */
  compute(prefix: ExactPrefix, turn: TurnContext): Promise<ComputedPrefix>;
}

/** Evaluates a prefix in an empty session. @throws BenchError `bad-state` where it has other tokens then */
async function evaluatePrefix({ tokenIds }: ExactPrefix, { session, signal }: TurnContext): Promise<void> {
  await session.clear();
  await session.evaluate(tokenIds, { signal });
  await requireInSession(session, tokenIds);
}

/** Stores checkpoints of the session that computed a prefix; for α = 1, without eviction and quantisation. */
export class PrefixCheckpoints implements PrefixStore {
  readonly #store: KvStore;

  constructor(store: KvStore) {
    this.#store = store;
  }

  async load({ key, tokenIds }: ExactPrefix, { session, userId }: TurnContext): Promise<LoadedPrefix | undefined> {
    const checkpoint = await this.#store.findCheckpoint(userId, key);
    if (checkpoint === undefined) return undefined;
    try {
      requireTokens(checkpoint.tokens, tokenIds);
      await session.restore(checkpoint);
      await requireInSession(session, tokenIds);
      return { sizeBytes: checkpoint.bytes, cells: tokenIds.length, origin: 'disk' };
    } catch (error) {
      if (!isBadState(error)) throw error;
      await this.#store.reject(userId, key);
      return undefined;
    }
  }

  async compute(prefix: ExactPrefix, turn: TurnContext): Promise<ComputedPrefix> {
    const start = performance.now();
    await computeExactly(
      () => evaluatePrefix(prefix, turn),
      () => this.#store.countRejected(),
    );
    return {
      loaded: { sizeBytes: 0, cells: prefix.tokenIds.length, origin: 'computed' },
      computeMs: performance.now() - start,
      keep: () => this.#keep(prefix, turn),
    };
  }

  /** Truncates the session to its prefix and stores that; a failure costs nothing but the next turn's time. */
  async #keep(
    { key, tokenIds, memoryIds }: ExactPrefix,
    { session, userId }: TurnContext,
  ): Promise<number | undefined> {
    const wasAborted = session.tokens.length < tokenIds.length;
    if (wasAborted) return undefined;
    try {
      await session.truncate(tokenIds.length);
      await requireInSession(session, tokenIds);
      const { bytes } = await this.#store.keepCheckpoint(userId, key, memoryIds, async (id) => {
        const checkpoint = await session.checkpoint({ id });
        requireTokens(checkpoint.tokens, tokenIds);
        return checkpoint;
      });
      return bytes;
    } catch (error) {
      if (!isBadState(error)) throw error;
      this.#store.countRejected();
      return undefined;
    }
  }
}

/** A prefix that was evaluated, and its bytes where these are not those of its cells. */
interface Evaluated {
  readonly cut: PrefixCut;
  readonly bytes: Uint8Array | undefined;
}

/**
 * Stores cells, for every α but 1, and where tokens are evicted or numbers quantised: no checkpoint can be made of a session
 * whose values are scaled. The cells are copied out to be scaled or packed; that copy is written after the answer, in one
 * write without a call of the engine. A hit is one import.
 */
export class PrefixCells implements PrefixStore {
  readonly #parts: PrefixStoreParts;

  constructor(parts: PrefixStoreParts) {
    this.#parts = parts;
  }

  async load(prefix: ExactPrefix, turn: TurnContext): Promise<LoadedPrefix | undefined> {
    const { store, kv, keptAs } = this.#parts;
    const { key, headerTokens } = prefix;
    const stored = await store.findBlock(turn.userId, key);
    if (stored === undefined) return undefined;
    try {
      const read = keptAs === 'f16' ? kv.readBlock : kv.restore;
      const cells = read(stored.bytes, `KV prefix ${key}`);
      if (cells.positions.length <= headerTokens) throw otherCells();
      const cut = cutPrefix(cells, headerTokens, kv);
      if (!this.#isOf(prefix, cut)) throw otherCells();
      await this.#inject(cut, turn);
      return loaded(cut, 'disk', stored.bytes.length);
    } catch (error) {
      if (!isBadState(error)) throw error;
      await store.reject(turn.userId, key);
      return undefined;
    }
  }

  async compute(prefix: ExactPrefix, turn: TurnContext): Promise<ComputedPrefix> {
    let computeMs = 0;
    const compute = async (): Promise<Evaluated> => {
      const start = performance.now();
      const evaluated = await this.#evaluate(prefix, turn);
      computeMs += performance.now() - start;
      await this.#inject(evaluated.cut, turn);
      return evaluated;
    };
    const { cut, bytes } = await computeExactly(compute, () => this.#parts.store.countRejected());
    return { loaded: loaded(cut, 'computed', 0), computeMs, keep: () => this.#keep(prefix, cut, bytes, turn) };
  }

  /** Restores quantised cells at once: a turn that computes answers from what later turns find. */
  async #evaluate(prefix: ExactPrefix, turn: TurnContext): Promise<Evaluated> {
    await evaluatePrefix(prefix, turn);
    const { tokenIds, headerTokens } = prefix;
    const { engine, kv, evict, keptAs } = this.#parts;
    const cut = await exportPrefix(turn.session, headerTokens, kv);
    requireTokens([...cut.header.tokenIds, ...cut.memories.tokenIds], tokenIds);
    const left = evict === null ? cut : { ...cut, memories: kv.evict(cut.memories, evict) };
    if (keptAs === 'f16') return { cut: left, bytes: undefined };
    using cells = wholePrefix(left, engine, kv);
    const bytes = kv.quantise(cells, keptAs);
    return { cut: cutPrefix(kv.restore(bytes), headerTokens, kv), bytes };
  }

  async #inject(unscaled: PrefixCut, { session, alpha }: TurnContext): Promise<void> {
    const { engine, kv } = this.#parts;
    await importScaled(session, unscaled, alpha, engine, kv);
    await requireInSession(session, [
      ...unscaled.header.tokenIds,
      ...tokensByPosition(unscaled.memories).slice(unscaled.header.positions.length),
    ]);
  }

  /** True for the cells of a prefix, or what eviction leaves of them. */
  #isOf({ tokenIds, headerTokens }: ExactPrefix, { header, memories }: PrefixCut): boolean {
    const { evict } = this.#parts;
    const ids = tokenIds.slice(headerTokens);
    return (
      isBlockOf(header, 0, tokenIds.slice(0, headerTokens)) &&
      (evict === null ? isBlockOf(memories, headerTokens, ids) : isLeftOf(memories, headerTokens, ids, evict))
    );
  }

  /** Leaves the session as it is. */
  async #keep(
    { key, tokenIds, memoryIds }: ExactPrefix,
    cut: PrefixCut,
    quantised: Uint8Array | undefined,
    { userId }: TurnContext,
  ): Promise<number> {
    const { engine, kv, store } = this.#parts;
    using cells = quantised === undefined ? wholePrefix(cut, engine, kv) : null;
    const bytes = quantised ?? writeBlockFile(cells!);
    await store.keepBlock({ userId, key, tokens: tokenIds.length, memoryIds }, bytes);
    return bytes.length;
  }
}

function loaded({ header, memories }: PrefixCut, origin: LoadedPrefix['origin'], sizeBytes: number): LoadedPrefix {
  return { sizeBytes, cells: header.positions.length + memories.positions.length, origin };
}

function otherCells(): BenchError {
  return new BenchError(
    'bad-state',
    'stored KV has other tokens or positions than its key says',
    'it will be computed again',
  );
}
