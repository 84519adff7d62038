import { BenchError } from '../../base/bench-error.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import { type TokenId, UNKNOWN_TOKEN } from '../../engine/token-id.ts';
import { type Eviction, keptTokens } from '../../kv/eviction-scores.ts';
import { sameTokens } from '../../kv/kv-key.ts';

/** @throws BenchError `bad-state` where a state has other tokens than those that its key was made of */
export function requireTokens(found: ArrayLike<TokenId>, wanted: readonly TokenId[]): void {
  if (sameTokens(found, wanted)) return;
  throw new BenchError(
    'bad-state',
    'KV of other tokens than those that it was asked for',
    'ask again; where it happens again the engine is at fault: open another',
  );
}

/** As `requireTokens`, of a session: by the engine's own list, where it gives one. */
export async function requireInSession(session: EngineSession, wanted: readonly TokenId[]): Promise<void> {
  requireTokens((await session.readBack()) ?? session.tokens, wanted);
}

/** True for the cells of these tokens at contiguous positions from `start` on. */
export function isBlockOf({ tokenIds, positions }: SequenceState, start: number, wanted: readonly TokenId[]): boolean {
  return sameTokens(tokenIds, wanted) && positions.every((position, cell) => position === start + cell);
}

/**
 * True for what an eviction leaves of the cells of these tokens at contiguous positions from `start` on: as many cells, the last
 * one where it was, each of its own token or of one that differs by head.
 */
export function isLeftOf(
  { tokenIds, positions }: SequenceState,
  start: number,
  wanted: readonly TokenId[],
  eviction: Eviction,
): boolean {
  const isOwn = (position: number, cell: number): boolean =>
    position >= start &&
    position > (positions[cell - 1] ?? -1) &&
    (tokenIds[cell] === UNKNOWN_TOKEN || tokenIds[cell] === wanted[position - start]);
  return (
    positions.length === keptTokens(wanted.length, eviction) &&
    positions.at(-1) === start + wanted.length - 1 &&
    positions.every(isOwn)
  );
}

/** The token at each position up to the last one, of cells of which no two share one; −1 where it is not known. */
export function tokensByPosition({ tokenIds, positions }: SequenceState): TokenId[] {
  const tokens = Array.from({ length: Math.max(...positions) + 1 }, () => UNKNOWN_TOKEN);
  positions.forEach((position, cell) => (tokens[position] = tokenIds[cell]!));
  return tokens;
}

/** True for an error that says that KV cannot be used. */
export function isBadState(error: unknown): boolean {
  return error instanceof BenchError && error.code === 'bad-state';
}

/**
 * Computes KV, and once more where what came out has other tokens.
 * @param onRejected told of what is not used
 * @throws BenchError `bad-state` where it has the second time, too
 */
export async function computeExactly<T>(compute: () => Promise<T>, onRejected: () => void): Promise<T> {
  try {
    return await compute();
  } catch (error) {
    if (!isBadState(error)) throw error;
    onRejected();
    return await compute();
  }
}
