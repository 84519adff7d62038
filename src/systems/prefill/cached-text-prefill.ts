import { createHash, randomUUID } from 'node:crypto';
import { type EngineCapabilities, lastExactCut } from '../../engine/engine-capabilities.ts';
import { commonLength, type TokenId } from '../../engine/token-id.ts';
import type { KvStore } from '../../kv/kv-disk-store.ts';
import type { BuiltPrompt } from '../prompt/build-prompt.ts';
import {
  computeExactly,
  requireTokens,
  restoreCheckpoint,
  storeCheckpoint,
  type StoredTokens,
} from './verify-kv-tokens.ts';
import { type Prefilled, type PrefillStrategy, textAccount, type TurnContext } from './prefill-strategy.ts';

/** A pseudo memory id of every stored prompt, so that KV of question and history can be forgotten as well. */
export const WHOLE_PROMPT = 'whole prompt';

/**
 * Prefix caching with checkpoints: restores the user's earlier prompt with the longest common prefix. Where a session of the prompt's
 * length cannot be truncated (recurrent layers, long prompts with sliding windows), a checkpoint continues only from its end: then
 * the prompt is evaluated in two calls, and the state between memories and question is stored.
 */
export class CachedTextPrefill implements PrefillStrategy {
  readonly #store: KvStore;
  readonly #capabilities: EngineCapabilities;
  readonly #cached = new Map<string, readonly Omit<StoredTokens, 'memoryIds'>[]>();

  /** @param capabilities of the engine: where a prompt may be cut, and the minimum tokens of a call */
  constructor(store: KvStore, capabilities: EngineCapabilities) {
    this.#store = store;
    this.#capabilities = capabilities;
  }

  async prefill(prompt: BuiltPrompt, turn: TurnContext): Promise<Prefilled> {
    const { tokenIds } = prompt;
    const start = performance.now();
    const found = await this.#restoreLongest(tokenIds, turn);
    const kvLoadMs = performance.now() - start;
    const stored = this.#storedTokens(prompt);
    const isWhole = stored === tokenIds.length;
    const built = isWhole || stored - found < this.#capabilities.leastTokens ? [] : tokenIds.slice(found, stored);
    if (built.length > 0) await this.#evaluate(tokenIds.slice(0, stored), found, turn);
    return {
      suffix: tokenIds.slice(found + built.length),
      record: null,
      account: { ...textAccount(tokenIds, found), built: built.length },
      kvLoadMs,
      kvComputeMs: performance.now() - start - kvLoadMs,
      keep: isWhole || built.length > 0 ? () => this.#keep(prompt, turn) : undefined,
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

  /** Restores the checkpoint with the longest common prefix, truncates it to that prefix, and returns its length. */
  async #restoreLongest(tokenIds: readonly TokenId[], turn: TurnContext): Promise<number> {
    const { session, userId } = turn;
    const { leastTokens } = this.#capabilities;
    const longest = tokenIds.length - leastTokens;
    const usable = (cached: readonly TokenId[]): number => {
      const common = Math.min(commonLength(cached, tokenIds), longest);
      if (this.#truncates(cached.length)) return lastExactCut(this.#capabilities, common);
      return common === cached.length ? common : 0;
    };
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

  /** Evaluates the tokens after those that were found. @throws BenchError `bad-state` if the session then holds other tokens */
  async #evaluate(tokenIds: readonly TokenId[], found: number, { session, signal }: TurnContext): Promise<void> {
    await computeExactly(async () => {
      await session.truncate(found);
      await session.evaluate(tokenIds.slice(found), { signal });
      requireTokens(session.tokens, tokenIds);
    }, this.#store);
  }

  #truncates(tokens: number): boolean {
    const { truncatesUpTo } = this.#capabilities;
    return truncatesUpTo === null || tokens <= truncatesUpTo;
  }

  /** Tokens that are stored: the whole prompt, or header and memories up to an exact cut; 0 without memories. */
  #storedTokens({ tokenIds, prefixTokens }: BuiltPrompt): number {
    if (this.#truncates(tokenIds.length)) return tokenIds.length;
    const { leastTokens } = this.#capabilities;
    const end = lastExactCut(this.#capabilities, Math.min(prefixTokens, tokenIds.length - leastTokens));
    return end < leastTokens ? 0 : end;
  }

  async #keep(prompt: BuiltPrompt, turn: TurnContext): Promise<undefined> {
    const { memories } = prompt;
    const tokenIds = prompt.tokenIds.slice(0, this.#storedTokens(prompt));
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
  /** The user's `cacheScope` in the engine. */
  readonly scope: string;
  readonly evaluated: { readonly tokens: readonly TokenId[]; readonly memoryIds: readonly string[] }[];
  /** True while it is unknown what the engine has cached, as after an aborted turn. */
  isUnsure: boolean;
}

/**
 * Prefix caching by the engine, with one cache scope per user. The account reports what the engine should find in its cache:
 * the longest common prefix with an earlier prompt and its answer, in whole blocks, without the last token.
 */
export class EngineCachePrefill implements PrefillStrategy {
  readonly #blockTokens: number;
  readonly #users = new Map<string, UserCache>();

  /** @param blockTokens block size of the engine's cache */
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
        // An aborted turn may have evaluated any part of the prompt.
        cache.isUnsure = tokens.length < tokenIds.length;
        cache.evaluated.push({ tokens, memoryIds: memoryIds(memories) });
        return undefined;
      },
    };
  }

  /** Changes the user's cache scope, so that the engine no longer finds the old KV. */
  async forget(userId: string, memoryId: string): Promise<number> {
    const evaluated = this.#users.get(userId)?.evaluated ?? [];
    const count = evaluated.filter((prompt) => prompt.memoryIds.includes(memoryId)).length;
    if (count > 0) this.#users.delete(userId);
    return count;
  }

  async reset(): Promise<void> {
    this.#users.clear();
  }

  /** Null: only the engine knows its cache. */
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
