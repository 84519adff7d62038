import type { TokenId, TokenIds } from '../token-id.ts';

/** How a session cuts calls into chunks: by the size of the model, never by a measured time, on which no bit may depend. */
export interface ChunkRule {
  /** Tokens that are evaluated at once, at most. */
  readonly largest: number;
  /** Chunks end at multiples of so many tokens of their call. */
  readonly multiple: number;
}

/** Weights times tokens between two looks at the signal of a call: at most a second of one core. */
const WEIGHTS_PER_CHUNK = 1.5e10;
/** Smaller chunks cost more time than they gain. */
const MIN_CHUNK_TOKENS = 32;

/** @param exactCuts of the engine; where no cut keeps all bits, chunks are as large as a batch */
export function chunkRule(batchTokens: number, parameters: number, exactCuts: number | null): ChunkRule {
  if (exactCuts === null) return { largest: batchTokens, multiple: 1 };
  const largest = 2 ** Math.floor(Math.log2(WEIGHTS_PER_CHUNK / parameters));
  return { largest: Math.min(batchTokens, Math.max(MIN_CHUNK_TOKENS, largest)), multiple: exactCuts };
}

/**
 * Cuts tokens into chunks that llama.cpp evaluates at once, none of a single token: llama.cpp computes single tokens in
 * another way, and their bits would depend on where the cut is.
 * @param lastAtLeast tokens that stay together in the last chunk, at least two; a chunk is as large as they need
 * @throws RangeError for a single token
 */
export function chunkTokens(tokens: TokenIds, { largest, multiple }: ChunkRule, lastAtLeast = 2): TokenId[][] {
  if (tokens.length < 2) {
    throw new RangeError(`${tokens.length} tokens to evaluate: bits are repeatable from two tokens on`);
  }
  const chunks: TokenId[][] = [];
  let start = 0;
  while (tokens.length - start > Math.max(largest, lastAtLeast)) {
    const size = Math.floor(Math.min(largest, tokens.length - start - lastAtLeast) / multiple) * multiple;
    if (size === 0) break;
    chunks.push(tokens.slice(start, start + size));
    start += size;
  }
  chunks.push(tokens.slice(start));
  return chunks;
}
