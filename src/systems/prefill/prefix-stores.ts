import { BenchError } from '../../base/bench-error.ts';
import { writeBlockFile } from '../../kv/block-file.ts';
import type { KvStore } from '../../kv/kv-store.ts';
import { restoreCheckpoint, storeCheckpoint, type StoredTokens } from './checkpoints.ts';
import {
  computeExactly,
  holdsTokens,
  isBadState,
  requireInSession,
  requireTokens,
  tokensByPosition,
} from './exact-tokens.ts';
import type { KvParts, Prefilled, TurnContext } from './prefill-strategy.ts';
import { cutPrefix, exportPrefix, joinPrefix, type PrefixCut } from './scale-prefix.ts';

/** Header and memories as one token sequence, and the key of its KV. */
export interface ExactPrefix extends StoredTokens {
  /** Those ahead of the first memory. */
  readonly headerTokens: number;
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
export function prefixCheckpoints(store: KvStore): PrefixStore {
  return {
    load: async (prefix, turn) => {
      const sizeBytes = await restoreCheckpoint(store, prefix, turn);
      return sizeBytes === undefined ? undefined : { sizeBytes, cells: prefix.tokenIds.length, origin: 'disk' };
    },
    compute: async (prefix, turn) => {
      const start = performance.now();
      await computeExactly(() => evaluatePrefix(prefix, turn), store);
      return {
        loaded: { sizeBytes: 0, cells: prefix.tokenIds.length, origin: 'computed' },
        computeMs: performance.now() - start,
        keep: () => storeCheckpoint(store, prefix, turn),
      };
    },
  };
}

/** A prefix that was evaluated, and its bytes where they are quantised. */
interface Evaluated {
  readonly cut: PrefixCut;
  readonly quantised: Uint8Array | null;
}

/**
 * Stores cells, for every α but 1, and where tokens are evicted or numbers quantised: no checkpoint can be made of a session
 * whose values are scaled. The cells are copied out to be scaled or packed; that copy is written after the answer, in one
 * write without a call of the engine. A hit is one import.
 */
export class PrefixCells implements PrefixStore {
  readonly #parts: KvParts<KvStore>;

  constructor(parts: KvParts<KvStore>) {
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
      if (!this.#holds(prefix, cut)) throw otherCells();
      await this.#inject(cut, turn);
      return { sizeBytes: stored.bytes.length, cells: cells.positions.length, origin: 'disk' };
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
    const evaluated = await computeExactly(compute, this.#parts.store);
    const { header, memories } = evaluated.cut;
    const cells = header.positions.length + memories.positions.length;
    return {
      loaded: { sizeBytes: 0, cells, origin: 'computed' },
      computeMs,
      keep: () => this.#keep(prefix, evaluated, turn.userId),
    };
  }

  /** Restores quantised cells at once: a turn that computes KV answers from the same numbers as later turns. */
  async #evaluate(prefix: ExactPrefix, turn: TurnContext): Promise<Evaluated> {
    await evaluatePrefix(prefix, turn);
    const { tokenIds, headerTokens } = prefix;
    const { engine, kv, evict, keptAs } = this.#parts;
    const whole = await exportPrefix(turn.session, headerTokens, kv);
    requireTokens([...whole.header.tokenIds, ...whole.memories.tokenIds], tokenIds);
    const cut = evict === null ? whole : { ...whole, memories: kv.evict(whole.memories, evict) };
    if (keptAs === 'f16') return { cut, quantised: null };
    using cells = joinPrefix(cut, 1, engine, kv);
    const quantised = kv.quantise(cells, keptAs);
    return { cut: cutPrefix(kv.restore(quantised), headerTokens, kv), quantised };
  }

  async #inject(unscaled: PrefixCut, { session, alpha }: TurnContext): Promise<void> {
    const { header, memories } = unscaled;
    {
      using scaled = joinPrefix(unscaled, alpha, this.#parts.engine, this.#parts.kv);
      await session.importCells(scaled);
    }
    const ids = [...header.tokenIds, ...tokensByPosition(memories).slice(header.positions.length)];
    await requireInSession(session, ids);
  }

  #holds({ tokenIds, headerTokens }: ExactPrefix, { header, memories }: PrefixCut): boolean {
    return (
      holdsTokens(header, 0, tokenIds.slice(0, headerTokens), null) &&
      holdsTokens(memories, headerTokens, tokenIds.slice(headerTokens), this.#parts.evict)
    );
  }

  /** Leaves the session as it is. */
  async #keep(
    { key, tokenIds, memoryIds }: ExactPrefix,
    { cut, quantised }: Evaluated,
    userId: string,
  ): Promise<number> {
    const { engine, kv, store } = this.#parts;
    using cells = quantised === null ? joinPrefix(cut, 1, engine, kv) : null;
    const bytes = quantised ?? writeBlockFile(cells!);
    await store.keepBlock({ userId, key, tokens: tokenIds.length, memoryIds }, bytes);
    return bytes.length;
  }
}

function otherCells(): BenchError {
  return new BenchError(
    'bad-state',
    'stored KV has other tokens or positions than its key says',
    'it will be computed again',
  );
}
