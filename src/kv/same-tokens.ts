import type { TokenId } from '../engine/token-id.ts';

/** True for two lists of the same tokens in the same order. */
export function sameTokens(a: ArrayLike<TokenId>, b: ArrayLike<TokenId>): boolean {
  return a.length === b.length && Array.prototype.every.call(a, (token, index) => token === b[index]);
}
