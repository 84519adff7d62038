import type { EngineSession } from '../../engine/engine-session.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { PrefillAccount, Prefilled, PrefillStrategy } from './prefill-strategy.ts';

/** The whole prompt as text, evaluated from the first token in every turn. It stores nothing. */
export const textPrefill: PrefillStrategy = {
  prefill: ({ tokenIds }, { session }) => prefillAsText(session, tokenIds),
  forget: () => Promise.resolve(0),
  reset: () => Promise.resolve(),
  stats: () => null,
};

/** Prefills nothing, so that the whole prompt is evaluated as text: an empty session, all tokens in the suffix. */
export async function prefillAsText(session: EngineSession, tokenIds: readonly TokenId[]): Promise<Prefilled> {
  await session.clear();
  return {
    suffix: tokenIds,
    record: null,
    account: textAccount(tokenIds, 0),
    kvLoadMs: 0,
    kvComputeMs: 0,
  };
}

/** The account of a prompt given as text. @param resident tokens found in a cache */
export function textAccount({ length }: readonly TokenId[], resident: number): PrefillAccount {
  return { cache: 'bypass', built: 0, recomputed: 0, resident, positions: length };
}
