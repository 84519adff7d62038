import { BenchError } from '../../base/bench-error.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import { type TokenId, UNKNOWN_TOKEN } from '../../engine/token-id.ts';
import { type Eviction, keptTokens } from '../../kv/eviction-rule-and-share.ts';
import type { KvStore } from '../../kv/kv-disk-store.ts';
import type { TurnContext } from './prefill-strategy.ts';

function sameTokens(a: ArrayLike<TokenId>, b: ArrayLike<TokenId>): boolean {
  return a.length === b.length && Array.prototype.every.call(a, (token, index) => token === b[index]);
}

/** @throws BenchError `bad-state` if KV has other tokens than its key was made of */
export function requireTokens(found: ArrayLike<TokenId>, wanted: readonly TokenId[]): void {
  if (sameTokens(found, wanted)) return;
  const message = 'KV holds other tokens than its key stands for';
  throw new BenchError('bad-state', message, 'try again; if it happens again, the engine is faulty: use another one');
}

/** True if the cells hold the wanted tokens from position `start` on; after an eviction, as many of them as it leaves. */
export function holdsTokens(
  { tokenIds, positions }: SequenceState,
  start: number,
  wanted: readonly TokenId[],
  eviction: Eviction | null,
): boolean {
  if (eviction === null) {
    return sameTokens(tokenIds, wanted) && positions.every((position, cell) => position === start + cell);
  }
  const isExpected = (position: number, cell: number): boolean =>
    position >= start &&
    position > (positions[cell - 1] ?? -1) &&
    (tokenIds[cell] === UNKNOWN_TOKEN || tokenIds[cell] === wanted[position - start]);
  return (
    positions.length === keptTokens(wanted.length, eviction) &&
    positions.at(-1) === start + wanted.length - 1 &&
    positions.every(isExpected)
  );
}

/** The token at each position up to the last one; −1 if unknown. @param cells at distinct positions */
export function tokensByPosition({ tokenIds, positions }: SequenceState): TokenId[] {
  const tokens = Array.from({ length: Math.max(...positions) + 1 }, () => UNKNOWN_TOKEN);
  positions.forEach((position, cell) => (tokens[position] = tokenIds[cell]!));
  return tokens;
}

export function isBadState(error: unknown): boolean {
  return error instanceof BenchError && error.code === 'bad-state';
}

/** Computes KV, and tries once more if it has other tokens. @throws BenchError `bad-state` if the second try fails too */
export async function computeExactly<T>(compute: () => Promise<T>, store: { countRejected: () => void }): Promise<T> {
  try {
    return await compute();
  } catch (error) {
    if (!isBadState(error)) throw error;
    store.countRejected();
    return await compute();
  }
}

export interface StoredTokens {
  readonly key: string;
  readonly tokenIds: readonly TokenId[];
  readonly memoryIds: readonly string[];
}

/** Restores a checkpoint and returns its size in bytes; undefined if none is stored, or it is rejected for other tokens. */
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
    requireTokens(session.tokens, tokenIds);
    return checkpoint.bytes;
  } catch (error) {
    if (!isBadState(error)) throw error;
    await store.reject(userId, key);
    return undefined;
  }
}

/** Stores a checkpoint of these tokens and returns its size in bytes; undefined after an aborted turn, or for other tokens. */
export async function storeCheckpoint(
  store: KvStore,
  { key, tokenIds, memoryIds }: StoredTokens,
  { session, userId }: TurnContext,
): Promise<number | undefined> {
  if (session.tokens.length < tokenIds.length) return undefined;
  try {
    await session.truncate(tokenIds.length);
    requireTokens(session.tokens, tokenIds);
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
