import type { TokenId } from '../../engine/token-id.ts';
import type { KvStore } from '../../kv/kv-store.ts';
import { isBadState, requireInSession, requireTokens } from './exact-tokens.ts';
import type { TurnContext } from './prefill-strategy.ts';

/** Tokens whose checkpoint is stored, and its key. */
export interface StoredTokens {
  readonly key: string;
  readonly tokenIds: readonly TokenId[];
  /** The memories that they contain, for forgetting. */
  readonly memoryIds: readonly string[];
}

/** Restores a checkpoint and gives its bytes; undefined where none is stored, or it has other tokens: then it is rejected. */
export async function restoreCheckpoint(
  store: KvStore,
  { key, tokenIds }: Omit<StoredTokens, 'memoryIds'>,
  { session, userId }: TurnContext,
): Promise<number | undefined> {
  const checkpoint = await store.findCheckpoint(userId, key);
  if (checkpoint === undefined) return undefined;
  try {
    requireTokens(checkpoint.tokens, tokenIds);
    await session.restore(checkpoint);
    await requireInSession(session, tokenIds);
    return checkpoint.bytes;
  } catch (error) {
    if (!isBadState(error)) throw error;
    await store.reject(userId, key);
    return undefined;
  }
}

/**
 * Truncates the session to these tokens, stores a checkpoint and gives its bytes. Undefined where the turn was aborted before
 * their end, or the engine has other tokens: that costs nothing but the next turn's time.
 */
export async function storeCheckpoint(
  store: KvStore,
  { key, tokenIds, memoryIds }: StoredTokens,
  { session, userId }: TurnContext,
): Promise<number | undefined> {
  if (session.tokens.length < tokenIds.length) return undefined;
  try {
    await session.truncate(tokenIds.length);
    await requireInSession(session, tokenIds);
    const { bytes } = await store.keepCheckpoint(userId, key, memoryIds, async (id) => {
      const checkpoint = await session.checkpoint({ id });
      requireTokens(checkpoint.tokens, tokenIds);
      return checkpoint;
    });
    return bytes;
  } catch (error) {
    if (!isBadState(error)) throw error;
    store.countRejected();
    return undefined;
  }
}
