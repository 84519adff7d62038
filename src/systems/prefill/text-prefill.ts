import type { EngineSession } from '../../engine/engine-session.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { PrefillAccount, Prefilled, PrefillStrategy } from './prefill-strategy.ts';

/** Evaluates the whole prompt from the first token in every turn. Stores nothing. */
export const textPrefill: PrefillStrategy = {
  prefill: ({ tokenIds }, { session }) => prefillAsText(session, tokenIds),
  forget: () => Promise.resolve(0),
  reset: () => Promise.resolve(),
  stats: () => null,
};

/** Clears the session and puts the whole prompt into the suffix, to be evaluated as text. */
export async function prefillAsText(session: EngineSession, tokenIds: readonly TokenId[]): Promise<Prefilled> {
  await session.clear();
  return { suffix: tokenIds, record: null, account: textAccount(tokenIds, 0), kvLoadMs: 0, kvComputeMs: 0 };
}

/** The account of a text prompt. @param resident tokens found in a prefix cache */
export function textAccount({ length }: readonly TokenId[], resident: number): PrefillAccount {
  return { cache: 'bypass', built: 0, recomputed: 0, resident, positions: length };
}
