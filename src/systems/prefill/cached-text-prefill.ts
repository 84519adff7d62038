import { createHash, randomUUID } from 'node:crypto';
import { type EngineCapabilities, lastExactCut } from '../../engine/engine-capabilities.ts';
import { commonLength, type TokenId } from '../../engine/token-id.ts';
import type { KvStore } from '../../kv/kv-store.ts';
import type { BuiltPrompt } from '../prompt/build-prompt.ts';
import { restoreCheckpoint, storeCheckpoint, type StoredTokens } from './verify-kv-tokens.ts';
import type { Prefilled, PrefillStrategy, TurnContext } from './prefill-strategy.ts';
import { textAccount } from './text-prefill.ts';

/** Stands among the memories of every stored prompt: its KV contains question and history as well. */
export const WHOLE_PROMPT = 'whole prompt';

/** Prefix caching: the checkpoint of an earlier prompt of the user with the longest common prefix is restored. */
export class CachedTextPrefill implements PrefillStrategy {
  readonly #store: KvStore;
  readonly #capabilities: EngineCapabilities;
  readonly #cached = new Map<string, readonly Omit<StoredTokens, 'memoryIds'>[]>();

  /** @param capabilities of the engine: the exact cuts at which a prompt is continued, and its shortest call */
  constructor(store: KvStore, capabilities: EngineCapabilities) {
    this.#store = store;
    this.#capabilities = capabilities;
  }

  async prefill(prompt: BuiltPrompt, turn: TurnContext): Promise<Prefilled> {
    const { tokenIds } = prompt;
    const start = performance.now();
    const found = await this.#restoreLongest(tokenIds, turn);
    return {
      suffix: tokenIds.slice(found),
      record: null,
      account: textAccount(tokenIds, found),
      kvLoadMs: performance.now() - start,
      kvComputeMs: 0,
      keep: () => this.#keep(prompt, turn),
    };
  }

  forget(userId: string, memoryId: string): Promise<number> {
    return this.#store.forgetMemory(userId, memoryId);
  }

  async reset(): Promise<void> {
    this.#cached.clear();
    await this.#store.clear();
  }

  stats(): Readonly<Record<string, unknown>> {
    return { ...this.#store.stats() };
  }

  /** Restores the checkpoint with the longest common prefix, truncated to it, and gives its length. */
  async #restoreLongest(tokenIds: readonly TokenId[], turn: TurnContext): Promise<number> {
    const { session, userId } = turn;
    const { leastTokens } = this.#capabilities;
    const longest = tokenIds.length - leastTokens;
    const usable = (cached: readonly TokenId[]): number =>
      lastExactCut(this.#capabilities, Math.min(commonLength(cached, tokenIds), longest));
    const candidates = (this.#cached.get(userId) ?? [])
      .map((cached) => ({ cached, tokens: usable(cached.tokenIds) }))
      .filter(({ tokens }) => tokens >= leastTokens)
      .sort((a, b) => b.tokens - a.tokens);
    for (const { cached, tokens } of candidates) {
      if ((await restoreCheckpoint(this.#store, cached, turn)) !== undefined) {
        await session.truncate(tokens);
        return tokens;
      }
      const others = (this.#cached.get(userId) ?? []).filter(({ key }) => key !== cached.key);
      this.#cached.set(userId, others);
    }
    await session.clear();
    return 0;
  }

  async #keep({ tokenIds, memories }: BuiltPrompt, turn: TurnContext): Promise<undefined> {
    const key = createHash('sha256').update(Int32Array.from(tokenIds)).digest('hex');
    const known = this.#cached.get(turn.userId) ?? [];
    if (known.some((cached) => cached.key === key)) return;
    const bytes = await storeCheckpoint(this.#store, { key, tokenIds, memoryIds: memoryIds(memories) }, turn);
    if (bytes !== undefined) this.#cached.set(turn.userId, [...known, { key, tokenIds }]);
  }
}

function memoryIds(memories: BuiltPrompt['memories']): string[] {
  return [WHOLE_PROMPT, ...memories.map(({ memoryId }) => memoryId)];
}

interface UserCache {
  /** The name under which the engine caches it; each user has another. */
  readonly scope: string;
  readonly evaluated: { readonly tokens: readonly TokenId[]; readonly memoryIds: readonly string[] }[];
  isUnsure: boolean;
}

/**
 * For an engine with its own prefix cache, under a name of each user. The account says what it should find: the longest
 * prefix of an earlier prompt and its answer, in whole blocks, and never the last token.
 */
export class EngineCachePrefill implements PrefillStrategy {
  readonly #blockTokens: number;
  readonly #users = new Map<string, UserCache>();

  /** @param blockTokens of the engine's cache */
  constructor(blockTokens: number) {
    this.#blockTokens = blockTokens;
  }

  async prefill({ tokenIds, memories }: BuiltPrompt, { session, userId, signal }: TurnContext): Promise<Prefilled> {
    const start = performance.now();
    const cache = this.#userCache(userId);
    const found = this.#expectedTokens(cache, tokenIds);
    await session.clear({ cacheScope: cache.scope, signal });
    cache.isUnsure = true;
    return {
      suffix: tokenIds,
      record: null,
      account: { ...textAccount(tokenIds, found), found: { tokens: found, blockTokens: this.#blockTokens } },
      kvLoadMs: performance.now() - start,
      kvComputeMs: 0,
      keep: async () => {
        const { tokens } = session;
        // What an aborted turn evaluated is unknown.
        cache.isUnsure = tokens.length < tokenIds.length;
        cache.evaluated.push({ tokens, memoryIds: memoryIds(memories) });
        return undefined;
      },
    };
  }

  /** Gives the user's cache a new name, so that the engine never finds the old one again. */
  async forget(userId: string, memoryId: string): Promise<number> {
    const evaluated = this.#users.get(userId)?.evaluated ?? [];
    const count = evaluated.filter((prompt) => prompt.memoryIds.includes(memoryId)).length;
    if (count > 0) this.#users.delete(userId);
    return count;
  }

  async reset(): Promise<void> {
    this.#users.clear();
  }

  /** Null: only the engine can count its own cache. */
  stats(): null {
    return null;
  }

  #userCache(userId: string): UserCache {
    const known = this.#users.get(userId);
    if (known !== undefined && !known.isUnsure) return known;
    const cache: UserCache = { scope: randomUUID(), evaluated: [], isUnsure: false };
    this.#users.set(userId, cache);
    return cache;
  }

  #expectedTokens({ evaluated }: UserCache, tokenIds: readonly TokenId[]): number {
    const longest = Math.max(0, ...evaluated.map(({ tokens }) => commonLength(tokens, tokenIds)));
    const block = this.#blockTokens;
    return Math.floor(Math.min(longest, tokenIds.length - 1) / block) * block;
  }
}
