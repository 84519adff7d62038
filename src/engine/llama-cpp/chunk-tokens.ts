import type { TokenId } from '../token-id.ts';

/**
 * Cuts tokens into the chunks that llama.cpp evaluates at once, none of them of a single token: that one would
 * take another path through the arithmetic, and its bits would depend on where the cut fell.
 *
 * @param largest tokens of a chunk at most
 * @param lastAtLeast tokens that stay together in the last chunk, at least two and fewer than `largest`
 * @throws RangeError for a single token, and for a last chunk that would not fit
 */
export function chunkTokens(tokens: readonly TokenId[], largest: number, lastAtLeast = 2): TokenId[][] {
  if (tokens.length < 2) {
    throw new RangeError(`${tokens.length} tokens to evaluate: bits are repeatable from two tokens on`);
  }
  if (lastAtLeast >= largest)
    throw new RangeError(`${lastAtLeast} tokens do not stay together in chunks of ${largest}`);
  const chunks: TokenId[][] = [];
  let start = 0;
  while (tokens.length - start > largest) {
    const size = Math.min(largest, tokens.length - start - lastAtLeast);
    chunks.push(tokens.slice(start, start + size));
    start += size;
  }
  chunks.push(tokens.slice(start));
  return chunks;
}
