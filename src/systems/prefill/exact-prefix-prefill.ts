import { evictionName } from '../../kv/eviction-scores.ts';
import type { KvStore } from '../../kv/kv-store.ts';
import type { PrefillRecord } from '../../store/records/prefill-record.ts';
import type { BuiltPrompt } from '../prompt/build-prompt.ts';
import { type PrefixParts, prefixParts } from '../prompt/memory-lines.ts';
import { isBadState, requireInSession } from './exact-tokens.ts';
import {
  type KvParts,
  prefillAsText,
  type Prefilled,
  type PrefillStrategy,
  type TurnContext,
} from './prefill-strategy.ts';
import {
  type ExactPrefix,
  type LoadedPrefix,
  PrefixCells,
  prefixCheckpoints,
  type PrefixStore,
} from './prefix-stores.ts';

/** Settings of an exact prefix. */
export interface ExactPrefixOptions extends KvParts<KvStore> {
  /** Leaves the KV of a turn in the session, so that the same set of memories is not even loaded. */
  readonly keepsSession: boolean;
}

interface Resident extends LoadedPrefix {
  readonly key: string;
  readonly userId: string;
  readonly alpha: number;
}

/**
 * Header and memories as one contiguous KV prefix: computed once for a set of memories, stored after the answer, loaded in
 * every later turn, never evaluated again. It is exactly the token sequence of text, so that next-token probabilities are
 * bitwise those of text while values are not scaled.
 * @see Knowledge Packs, arXiv 2604.03270
 */
export class ExactPrefixPrefill implements PrefillStrategy {
  readonly #options: ExactPrefixOptions;
  readonly #checkpoints: PrefixStore;
  readonly #cells: PrefixStore;
  /** The prefix that the last turn left in the session. */
  #resident: Resident | undefined;

  constructor(options: ExactPrefixOptions) {
    this.#options = options;
    this.#checkpoints = prefixCheckpoints(options.store);
    this.#cells = new PrefixCells(options);
  }

  async prefill(prompt: BuiltPrompt, turn: TurnContext): Promise<Prefilled> {
    const parts = prefixParts(prompt);
    const resident = this.#resident;
    this.#resident = undefined;
    if (parts.lines.length === 0) return prefillAsText(turn.session, parts.suffix);
    const start = performance.now();
    const { userId, alpha } = turn;
    const { evict, keepsSession } = this.#options;
    const store = this.#isPlain(alpha) ? this.#checkpoints : this.#cells;
    const prefix = this.#prefix(prompt, parts, alpha);
    const found = (await this.#continue(resident, prefix, turn)) ?? (await store.load(prefix, turn));
    const computed = found === undefined ? await store.compute(prefix, turn) : null;
    const loaded = found ?? computed!.loaded;
    const kvComputeMs = computed?.computeMs ?? 0;
    // A session of evicted cells does not tell one prefix from another.
    if (keepsSession && evict === null) this.#resident = { ...loaded, key: prefix.key, userId, alpha };
    return {
      keep: computed === null ? undefined : () => this.#keep(computed.keep),
      suffix: parts.suffix,
      record: this.#record(prefix, loaded, alpha, kvComputeMs),
      account: {
        cache: computed === null ? 'hit' : 'miss',
        built: computed === null ? 0 : prefix.tokenIds.length,
        recomputed: 0,
        resident: loaded.cells,
        positions: prompt.tokenIds.length,
      },
      kvLoadMs: performance.now() - start - kvComputeMs,
      kvComputeMs,
    };
  }

  forget(userId: string, memoryId: string): Promise<number> {
    this.#resident = undefined;
    return this.#options.store.forgetMemory(userId, memoryId);
  }

  async reset(): Promise<void> {
    this.#resident = undefined;
    await this.#options.store.clear();
  }

  stats(): Readonly<Record<string, unknown>> {
    return { ...this.#options.store.stats() };
  }

  #prefix({ tokenIds, prefixTokens }: BuiltPrompt, { header, lines }: PrefixParts, alpha: number): ExactPrefix {
    const { engine, kv, template, evict, keptAs } = this.#options;
    const ids = tokenIds.slice(0, prefixTokens);
    const stateIdentity = engine.info.stateIdentity ?? '';
    // Each stored form of a prefix has a key of its own.
    const cells = evict === null ? 'cells' : `evict-${evictionName(evict)}`;
    const form = this.#isPlain(alpha) ? template : `${template}/${cells}/${keptAs}`;
    return {
      key: kv.key({ stateIdentity, template: form, tokenIds: ids }),
      tokenIds: ids,
      headerTokens: header.length,
      memoryIds: lines.map(({ memoryId }) => memoryId),
    };
  }

  /** True where KV is stored as it was evaluated. */
  #isPlain(alpha: number): boolean {
    return alpha === 1 && this.#options.evict === null && this.#options.keptAs === 'f16';
  }

  #record(
    { key, tokenIds, headerTokens, memoryIds }: ExactPrefix,
    { sizeBytes, cells, origin }: LoadedPrefix,
    alpha: number,
    computeMs: number,
  ): PrefillRecord {
    const { evict, keptAs } = this.#options;
    const tokens = tokenIds.length;
    return {
      strategy: 'prefix',
      ...(evict === null ? {} : { evicted: evictionName(evict) }),
      ...(keptAs === 'f16' ? {} : { keptAs }),
      alpha,
      key,
      memoryIds,
      tokens,
      origin,
      computeMs,
      sizeBytes,
      memoryLines: { tokens: tokens - headerTokens, cells: cells - headerTokens },
    };
  }

  /** Stores what was computed; the bytes of what stays in the session are known only then. */
  async #keep(keep: NonNullable<Prefilled['keep']>): Promise<number | undefined> {
    const sizeBytes = await keep();
    if (this.#resident !== undefined && sizeBytes !== undefined) this.#resident = { ...this.#resident, sizeBytes };
    return sizeBytes;
  }

  /** Continues behind the prefix of the last turn; undefined where that was another. */
  async #continue(
    resident: Resident | undefined,
    { key, tokenIds }: ExactPrefix,
    { session, userId, alpha }: TurnContext,
  ): Promise<LoadedPrefix | undefined> {
    if (resident?.key !== key || resident.userId !== userId || resident.alpha !== alpha) return undefined;
    // Another arm may have used the session since.
    if (session.tokens.length < tokenIds.length) return undefined;
    await session.truncate(tokenIds.length);
    try {
      await requireInSession(session, tokenIds);
      return { ...resident, origin: 'resident' };
    } catch (error) {
      if (!isBadState(error)) throw error;
      this.#options.store.countRejected();
      return undefined;
    }
  }
}
