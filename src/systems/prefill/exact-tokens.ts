import { BenchError } from '../../config/bench-error.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import type { TokenId } from '../../engine/token-id.ts';
import { sameTokens } from '../../kv/same-tokens.ts';

/** @throws BenchError `bad-state` where a state has other tokens than those that its key was made of */
export function requireTokens(found: ArrayLike<TokenId>, wanted: readonly TokenId[]): void {
  if (sameTokens(found, wanted)) return;
  throw new BenchError(
    'bad-state',
    'K/V of other tokens than those that it was asked for',
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

/** True for an error that says that K/V cannot be used. */
export function isBadState(error: unknown): boolean {
  return error instanceof BenchError && error.code === 'bad-state';
}

/**
 * Computes K/V, and once more where what came out has other tokens.
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
