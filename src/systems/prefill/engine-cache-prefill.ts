import { randomUUID } from 'node:crypto';
import type { TokenId } from '../../engine/token-id.ts';
import type { BuiltPrompt } from '../prompt/build-prompt.ts';
import { WHOLE_PROMPT } from './cached-text-prefill.ts';
import { commonLength } from './common-length.ts';
import type { Prefilled, PrefillStrategy, TurnContext } from './prefill-strategy.ts';

/** A prompt and its answer, as the engine evaluated them. */
interface Evaluated {
  readonly tokens: readonly TokenId[];
  readonly memoryIds: readonly string[];
}

/** The scope in which a user's prompts find each other again. */
interface UserCache {
  /** Under which the engine keeps it: another user's has another. */
  readonly scope: string;
  readonly evaluated: Evaluated[];
  /** A prompt was sent, and nobody knows what became of it. */
  isUnsure: boolean;
}

/**
 * The prompt as text, in front of an engine that caches prefixes by itself: all of it is sent under the name of its user, and
 * the engine finds what it has. The account says what it should find: the longest beginning of any earlier prompt of the
 * user and its answer, in whole blocks, and never the last token.
 */
export class EngineCachePrefill implements PrefillStrategy {
  readonly #blockTokens: number;
  readonly #users = new Map<string, UserCache>();

  /** @param blockTokens of the engine's cache */
  constructor(blockTokens: number) {
    this.#blockTokens = blockTokens;
  }

  async prefill({ tokenIds, kept }: BuiltPrompt, { session, userId, signal }: TurnContext): Promise<Prefilled> {
    const start = performance.now();
    const cache = this.#cacheOf(userId);
    const found = this.#foundIn(cache, tokenIds);
    await session.clear({ cacheScope: cache.scope, signal });
    cache.isUnsure = true;
    return {
      suffix: tokenIds,
      record: null,
      account: {
        ...{ cache: 'bypass', built: 0, recomputed: 0, resident: found, positions: tokenIds.length },
        found: { tokens: found, blockTokens: this.#blockTokens },
      },
      kvLoadMs: performance.now() - start,
      kvComputeMs: 0,
      keep: async () => {
        const { tokens } = session;
        // Of a turn that was given up nobody knows what was evaluated.
        cache.isUnsure = tokens.length < tokenIds.length;
        cache.evaluated.push({ tokens, memoryIds: [WHOLE_PROMPT, ...kept.map(({ memoryId }) => memoryId)] });
        return undefined;
      },
    };
  }

  /** The engine is asked for them no more: whatever comes next has another name. */
  async forget(userId: string, memoryId: string): Promise<number> {
    const evaluated = this.#users.get(userId)?.evaluated ?? [];
    const count = evaluated.filter(({ memoryIds }) => memoryIds.includes(memoryId)).length;
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

  async dispose(): Promise<void> {
    this.#users.clear();
  }

  #cacheOf(userId: string): UserCache {
    const known = this.#users.get(userId);
    if (known !== undefined && !known.isUnsure) return known;
    const cache: UserCache = { scope: randomUUID(), evaluated: [], isUnsure: false };
    this.#users.set(userId, cache);
    return cache;
  }

  #foundIn({ evaluated }: UserCache, tokenIds: readonly TokenId[]): number {
    const longest = Math.max(0, ...evaluated.map(({ tokens }) => commonLength(tokens, tokenIds)));
    const block = this.#blockTokens;
    return Math.floor(Math.min(longest, tokenIds.length - 1) / block) * block;
  }
}
