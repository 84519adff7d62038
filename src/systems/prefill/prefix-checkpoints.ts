import type { KvStore } from '../../kv/kv-store.ts';
import { computeExactly, isBadState, requireInSession, requireTokens } from './exact-tokens.ts';
import { type ComputedPrefix, evaluatePrefix, type ExactPrefix, type KeptPrefixes } from './kept-prefixes.ts';
import type { Loaded } from './prefix-record.ts';
import type { TurnContext } from './prefill-strategy.ts';

/** Prefixes as checkpoints of the session that computed them: nothing is copied but by the engine. For α = 1 and nothing evicted alone. */
export class PrefixCheckpoints implements KeptPrefixes {
  readonly #store: KvStore;

  constructor(store: KvStore) {
    this.#store = store;
  }

  async load({ key, tokenIds }: ExactPrefix, { session, userId }: TurnContext): Promise<Loaded | undefined> {
    const checkpoint = await this.#store.findCheckpoint(userId, key);
    if (checkpoint === undefined) return undefined;
    try {
      requireTokens(checkpoint.tokens, tokenIds);
      await session.restore(checkpoint);
      await requireInSession(session, tokenIds);
      return { sizeBytes: checkpoint.bytes, tokens: tokenIds.length, cells: tokenIds.length, origin: 'disk' };
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
      loaded: {
        sizeBytes: 0,
        tokens: prefix.tokenIds.length,
        cells: prefix.tokenIds.length,
        origin: 'computed',
      },
      computeMs: performance.now() - start,
      keep: () => this.#keep(prefix, turn),
    };
  }

  /** Cuts the session down to its prefix and keeps that; the answer is there, whatever becomes of it. */
  async #keep(
    { key, tokenIds, memoryIds }: ExactPrefix,
    { session, userId }: TurnContext,
  ): Promise<number | undefined> {
    // Of a turn that was given up.
    if (session.tokens.length < tokenIds.length) return undefined;
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
