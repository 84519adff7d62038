import { lastExactCut } from '../../engine/engine-capabilities.ts';
import type { TokenId } from '../../engine/token-id.ts';
import { evictionName } from '../../kv/eviction-rule-and-share.ts';
import type { KvStore } from '../../kv/kv-disk-store.ts';
import type { PrefillRecord } from '../../store/records/prefill-record.ts';
import { type BuiltPrompt, type PrefixParts, prefixParts } from '../prompt/build-prompt.ts';
import { computeExactly, isBadState, requireTokens, restoreCheckpoint, storeCheckpoint } from './verify-kv-tokens.ts';
import {
  type KvParts,
  prefillAsText,
  type Prefilled,
  type PrefillStrategy,
  type TurnContext,
} from './prefill-strategy.ts';
import type { PromptSuffix } from './question-attention.ts';
import {
  type ComputedPrefix,
  evaluatePrefix,
  type ExactPrefix,
  type LoadedPrefix,
  PrefixCells,
} from './prefix-cell-storage.ts';

export interface ExactPrefixOptions extends KvParts<KvStore> {
  /** Leaves the prefix in the session, so that the next turn with the same memories need not load it. */
  readonly keepsSession: boolean;
}

const hit = { cache: 'hit', built: 0 } as const;

function computedAccount({ tokenIds }: ExactPrefix, { selector }: ComputedPrefix) {
  return { cache: 'miss', built: tokenIds.length, ...(selector === null ? {} : { selector }) } as const;
}

interface Resident extends LoadedPrefix {
  readonly key: string;
  readonly userId: string;
  readonly alpha: number;
}

/**
 * Header and memories as one contiguous KV prefix: computed once per set of memories, stored after the answer, loaded in
 * later turns. Its tokens are exactly those of the text prompt. Unedited KV ends at a multiple of the engine's `exactCuts`,
 * which makes next-token probabilities bitwise equal to those of text; the few tokens after it are evaluated with the suffix.
 * @see Knowledge Packs, arXiv 2604.03270
 */
export class ExactPrefixPrefill implements PrefillStrategy {
  readonly #options: ExactPrefixOptions;
  readonly #cells: PrefixCells;
  #resident: Resident | undefined;

  constructor(options: ExactPrefixOptions) {
    this.#options = options;
    this.#cells = new PrefixCells(options);
  }

  async prefill(prompt: BuiltPrompt, turn: TurnContext): Promise<Prefilled> {
    const parts = prefixParts(prompt);
    const resident = this.#resident;
    this.#resident = undefined;
    const { alpha } = turn;
    const stored = this.#storedTokens(prompt, alpha);
    const suffix = prompt.tokenIds.slice(stored);
    if (parts.lines.length === 0 || stored === 0) return prefillAsText(turn.session, prompt.tokenIds);
    const start = performance.now();
    const prefix = this.#prefix(prompt.tokenIds.slice(0, stored), parts, alpha);
    const remainder = prompt.prefixTokens - stored;
    const found = (await this.#continue(resident, prefix, turn)) ?? (await this.#load(prefix, turn));
    const computed = found === undefined ? await this.#compute(prefix, turn, parts) : null;
    const loaded = found ?? computed!;
    const computeMs = computed?.computeMs ?? 0;
    this.#holdInSession(prefix, loaded, turn);
    return {
      keep: computed === null ? undefined : () => this.#keep(computed),
      suffix,
      record: this.#record(prefix, loaded, alpha, computeMs),
      account: {
        ...(computed === null ? hit : computedAccount(prefix, computed)),
        recomputed: 0,
        ...(remainder === 0 ? {} : { remainder }),
        resident: loaded.cells,
        positions: prompt.tokenIds.length,
      },
      kvLoadMs: performance.now() - start - computeMs,
      kvComputeMs: computeMs,
    };
  }

  #holdInSession({ key }: ExactPrefix, { sizeBytes, cells }: LoadedPrefix, { userId, alpha }: TurnContext): void {
    const { keepsSession, evict } = this.#options;
    // After eviction, the session's tokens no longer identify the prefix.
    if (keepsSession && evict === null) this.#resident = { key, userId, alpha, sizeBytes, cells, origin: 'resident' };
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

  /** Tokens of the prefix that are stored: up to the last exact cut, or all if KV is edited and so never equals text. */
  #storedTokens({ prefixTokens }: BuiltPrompt, alpha: number): number {
    return this.#isPlain(alpha) ? lastExactCut(this.#options.engine.capabilities, prefixTokens) : prefixTokens;
  }

  #prefix(ids: readonly TokenId[], { header, lines }: PrefixParts, alpha: number): ExactPrefix {
    const { engine, kv, template, evict, keptAs } = this.#options;
    // KV of the same tokens that is edited differently needs a different key.
    const cells = evict === null ? 'cells' : `evict-${evictionName(evict)}`;
    const form = this.#isPlain(alpha) ? template : `${template}/${cells}/${keptAs}`;
    return {
      key: kv.key({ stateIdentity: engine.info.stateIdentity ?? '', template: form, tokenIds: ids }),
      tokenIds: ids,
      headerTokens: Math.min(header.length, ids.length),
      memoryIds: lines.map(({ memoryId }) => memoryId),
    };
  }

  /** True where KV is stored as it was evaluated: as a checkpoint of the session. */
  #isPlain(alpha: number): boolean {
    const { evict, keptAs } = this.#options;
    return alpha === 1 && evict === null && keptAs === 'f16';
  }

  /** Reuses the prefix that the last turn left in the session; undefined if that was a different one. */
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
      requireTokens(session.tokens, tokenIds);
      return resident;
    } catch (error) {
      if (!isBadState(error)) throw error;
      this.#options.store.countRejected();
      return undefined;
    }
  }

  async #load(prefix: ExactPrefix, turn: TurnContext): Promise<LoadedPrefix | undefined> {
    if (!this.#isPlain(turn.alpha)) return this.#cells.load(prefix, turn);
    const sizeBytes = await restoreCheckpoint(this.#options.store, prefix, turn);
    return sizeBytes === undefined ? undefined : { sizeBytes, cells: prefix.tokenIds.length, origin: 'disk' };
  }

  async #compute(prefix: ExactPrefix, turn: TurnContext, rest: PromptSuffix): Promise<ComputedPrefix> {
    if (!this.#isPlain(turn.alpha)) return this.#cells.compute(prefix, turn, rest);
    const { store } = this.#options;
    const start = performance.now();
    await computeExactly(() => evaluatePrefix(prefix, turn), store);
    const computeMs = performance.now() - start;
    const keep = () => storeCheckpoint(store, prefix, turn);
    return { sizeBytes: 0, cells: prefix.tokenIds.length, origin: 'computed', computeMs, selector: null, keep };
  }

  /** Stores a computed prefix. Only then is the size of a prefix that stays in the session known. */
  async #keep({ keep }: ComputedPrefix): Promise<number | undefined> {
    const sizeBytes = await keep();
    if (this.#resident !== undefined && sizeBytes !== undefined) this.#resident = { ...this.#resident, sizeBytes };
    return sizeBytes;
  }

  #record(
    { key, tokenIds, headerTokens, memoryIds }: ExactPrefix,
    { sizeBytes, cells, origin }: LoadedPrefix,
    alpha: number,
    computeMs: number,
  ): PrefillRecord {
    const { evict, keptAs } = this.#options;
    return {
      strategy: 'prefix',
      ...(evict === null ? {} : { evicted: evictionName(evict) }),
      ...(keptAs === 'f16' ? {} : { keptAs }),
      alpha,
      key,
      memoryIds,
      tokens: tokenIds.length,
      origin,
      computeMs,
      sizeBytes,
      memoryLines: { tokens: tokenIds.length - headerTokens, cells: cells - headerTokens },
    };
  }
}
