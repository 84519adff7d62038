import { createHash } from 'node:crypto';
import type { Checkpoint } from '../../engine/checkpoint.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { KvStore } from '../../kv/kv-store.ts';
import type { BuiltPrompt } from '../prompt/build-prompt.ts';
import { commonLength } from './common-length.ts';
import { isBadState, requireInSession, requireTokens } from './exact-tokens.ts';
import type { Prefilled, PrefillStrategy, TurnContext } from './prefill-strategy.ts';

/** Stands among the memories of every prompt that is kept: its KV contains question and history as well. */
export const WHOLE_PROMPT = 'whole prompt';

interface CachedPrompt {
  readonly key: string;
  readonly tokenIds: readonly TokenId[];
}

/**
 * The prompt as text with prefix caching: checkpoints of earlier prompts of the same user are kept, within as many bytes
 * as KV injection may keep, and the one with the longest common beginning saves its evaluation.
 */
export class CachedTextPrefill implements PrefillStrategy {
  readonly #store: KvStore;
  readonly #leastTokens: number;
  readonly #cached = new Map<string, CachedPrompt[]>();

  /** @param leastTokens of the suffix: the engine's shortest call whose bits are those of longer ones */
  constructor(store: KvStore, leastTokens: number) {
    this.#store = store;
    this.#leastTokens = leastTokens;
  }

  async prefill(prompt: BuiltPrompt, { session, userId }: TurnContext): Promise<Prefilled> {
    const { tokenIds } = prompt;
    const start = performance.now();
    const kept = await this.#restoreLongest(session, userId, tokenIds);
    return {
      suffix: tokenIds.slice(kept),
      record: null,
      account: { cache: 'bypass', built: 0, recomputed: 0, resident: kept, positions: tokenIds.length },
      kvLoadMs: performance.now() - start,
      kvComputeMs: 0,
      keep: async () => {
        await this.#keep(session, userId, prompt);
        return undefined;
      },
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

  async dispose(): Promise<void> {
    this.#cached.clear();
  }

  /** Restores the checkpoint with the longest common beginning, cut down to it, and gives its length. */
  async #restoreLongest(session: EngineSession, userId: string, tokenIds: readonly TokenId[]): Promise<number> {
    const longest = tokenIds.length - this.#leastTokens;
    const candidates = (this.#cached.get(userId) ?? [])
      .map((cached) => ({ cached, tokens: Math.min(commonLength(cached.tokenIds, tokenIds), longest) }))
      .filter(({ tokens }) => tokens >= this.#leastTokens)
      .sort((a, b) => b.tokens - a.tokens);
    for (const { cached, tokens } of candidates) {
      const checkpoint = await this.#store.findCheckpoint(userId, cached.key);
      if (checkpoint !== undefined && (await this.#restored(session, userId, cached, checkpoint))) {
        await session.truncate(tokens);
        return tokens;
      }
      this.#drop(userId, cached.key);
    }
    await session.clear();
    return 0;
  }

  async #restored(
    session: EngineSession,
    userId: string,
    { key, tokenIds }: CachedPrompt,
    checkpoint: Checkpoint,
  ): Promise<boolean> {
    try {
      requireTokens(checkpoint.tokens, tokenIds);
      await session.restore(checkpoint);
      await requireInSession(session, tokenIds);
      return true;
    } catch (error) {
      if (!isBadState(error)) throw error;
      await this.#store.reject(userId, key);
      return false;
    }
  }

  async #keep(session: EngineSession, userId: string, { tokenIds, kept }: BuiltPrompt): Promise<void> {
    const key = createHash('sha256').update(Int32Array.from(tokenIds)).digest('hex');
    const known = this.#cached.get(userId) ?? [];
    if (known.some((cached) => cached.key === key)) return;
    // Of a turn that was given up while its prompt was evaluated.
    if (session.tokens.length < tokenIds.length) return;
    await session.truncate(tokenIds.length);
    const memoryIds = [WHOLE_PROMPT, ...kept.map((memory) => memory.memoryId)];
    try {
      await requireInSession(session, tokenIds);
      await this.#store.keepCheckpoint(userId, key, memoryIds, async (id) => {
        const checkpoint = await session.checkpoint({ id });
        requireTokens(checkpoint.tokens, tokenIds);
        return checkpoint;
      });
      this.#cached.set(userId, [...known, { key, tokenIds }]);
    } catch (error) {
      if (!isBadState(error)) throw error;
      // The answer is there: the next turn evaluates its prompt from the first token.
      this.#store.countRejected();
    }
  }

  #drop(userId: string, key: string): void {
    const others = (this.#cached.get(userId) ?? []).filter((cached) => cached.key !== key);
    this.#cached.set(userId, others);
  }
}
