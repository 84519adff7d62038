import type { TokenId } from '../../engine/token-id.ts';
import { evictionName } from '../../kv/eviction-scores.ts';
import type { BuiltPrompt } from '../prompt/build-prompt.ts';
import { isBadState, requireInSession } from './exact-tokens.ts';
import type { ExactPrefix, KeptPrefixes, KeptPrefixParts } from './kept-prefixes.ts';
import { PrefixCells } from './prefix-cells.ts';
import { PrefixCheckpoints } from './prefix-checkpoints.ts';
import { type PrefixParts, prefixParts } from './prefix-parts.ts';
import { type Loaded, prefixRecord } from './prefix-record.ts';
import { prefillAsText, type Prefilled, type PrefillStrategy, type TurnContext } from './prefill-strategy.ts';

/** Settings of an exact prefix. */
export interface ExactPrefixOptions extends KeptPrefixParts {
  /** Template and labels, part of each key. */
  readonly template: string;
  /** Leaves the KV of a turn in the session, so that the same set of memories is not even loaded. Default false. */
  readonly keepsSession?: boolean;
}

interface Resident extends Pick<Loaded, 'sizeBytes' | 'tokens' | 'cells'> {
  readonly key: string;
  readonly userId: string;
  readonly alpha: number;
}

/**
 * Header and memories as one contiguous KV prefix: computed once for a set of memories, kept behind the answer, loaded in
 * every later turn, never evaluated again. The very token sequence of text, so that next-token probabilities are bitwise those of
 * text while values are not scaled.
 * @see Knowledge Packs, arXiv 2604.03270
 */
export class ExactPrefixPrefill implements PrefillStrategy {
  readonly #options: ExactPrefixOptions;
  readonly #checkpoints: KeptPrefixes;
  readonly #cells: KeptPrefixes;
  /** The beginning of the session since the last turn, where it stays there. */
  #resident: Resident | undefined;

  constructor(options: ExactPrefixOptions) {
    this.#options = options;
    this.#checkpoints = new PrefixCheckpoints(options.store);
    this.#cells = new PrefixCells(options);
  }

  async prefill(prompt: BuiltPrompt, turn: TurnContext): Promise<Prefilled> {
    const parts = prefixParts(prompt);
    const resident = this.#resident;
    this.#resident = undefined;
    if (parts.lines.length === 0) return prefillAsText(turn.session, parts.suffix);
    const start = performance.now();
    const { evict, keptAs, keepsSession = false } = this.#options;
    const kept = this.#isPlain(turn.alpha) ? this.#checkpoints : this.#cells;
    const prefix = this.#prefixOf(prompt, parts, turn.alpha);
    const found = (await this.#goOn(resident, prefix, turn)) ?? (await kept.load(prefix, turn));
    const computed = found === undefined ? await kept.compute(prefix, turn) : undefined;
    const loaded = found ?? computed!.loaded;
    const kvComputeMs = computed?.computeMs ?? 0;
    const { userId, alpha } = turn;
    const { key, tokenIds } = prefix;
    // A session of evicted cells does not tell one prefix from another.
    if (keepsSession && evict === null) this.#resident = { ...loaded, key, userId, alpha };
    return {
      ...(computed === undefined ? {} : { keep: () => this.#keep(computed.keep) }),
      suffix: parts.suffix,
      record: prefixRecord(key, loaded, turn, parts, kvComputeMs, { evict, keptAs }),
      account: {
        cache: found === undefined ? 'miss' : 'hit',
        built: found === undefined ? tokenIds.length : 0,
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

  async dispose(): Promise<void> {
    this.#resident = undefined;
  }

  #prefixOf({ tokenIds, prefixTokens }: BuiltPrompt, { header, lines }: PrefixParts, alpha: number): ExactPrefix {
    const { engine, kv, template, evict, keptAs } = this.#options;
    const ids: readonly TokenId[] = tokenIds.slice(0, prefixTokens);
    const stateIdentity = engine.info.stateIdentity ?? '';
    // The forms of what is kept never take each other's place.
    const left = evict === null ? 'cells' : `evict-${evictionName(evict)}`;
    const form = this.#isPlain(alpha) ? template : `${template}/${left}/${keptAs}`;
    return {
      key: kv.key({ stateIdentity, template: form, tokenIds: ids }),
      tokenIds: ids,
      headerTokens: header.length,
      memoryIds: lines.map(({ memoryId }) => memoryId),
    };
  }

  /** True where what was evaluated is kept as it is. */
  #isPlain(alpha: number): boolean {
    return alpha === 1 && this.#options.evict === null && this.#options.keptAs === 'f16';
  }

  /** Keeps what was computed; the bytes of what stays in the session are known only then. */
  async #keep(keep: NonNullable<Prefilled['keep']>): Promise<number | undefined> {
    const sizeBytes = await keep();
    if (this.#resident !== undefined && sizeBytes !== undefined) this.#resident = { ...this.#resident, sizeBytes };
    return sizeBytes;
  }

  /** Goes on behind the prefix of the last turn; undefined where that was another. */
  async #goOn(
    resident: Resident | undefined,
    { key, tokenIds }: ExactPrefix,
    { session, userId, alpha }: TurnContext,
  ): Promise<Loaded | undefined> {
    if (resident?.key !== key || resident.userId !== userId || resident.alpha !== alpha) return undefined;
    // Another may have used the session since.
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
