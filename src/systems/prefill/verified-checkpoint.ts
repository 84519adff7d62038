import type { TokenId } from '../../engine/token-id.ts';
import type { KvStore } from '../../kv/kv-store.ts';
import type { TurnContext } from './prefill-strategy.ts';
import { isBadState, requireInSession, requireTokens } from './verify-kv-tokens.ts';

export interface StoredTokens {
  readonly key: string;
  readonly tokenIds: readonly TokenId[];
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

/** Stores a checkpoint of these tokens and gives its bytes; undefined for an aborted turn, or other tokens. */
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
