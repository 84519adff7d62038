import type { TokenId, TokenIds } from '../token-id.ts';

/** How prompts are cut into chunks. Depends on the model's size, not on measured time, so that results stay repeatable. */
export interface ChunkRule {
  /** Most tokens per chunk. */
  readonly largest: number;
  /** Chunks end at multiples of this number of tokens, counted from the start of their call. */
  readonly multiple: number;
}

/** Weights times tokens between two checks of the abort signal: at most a second on one core. */
const WEIGHTS_PER_CHUNK = 1.5e10;
/** Smaller chunks slow evaluation down too much. */
const MIN_CHUNK_TOKENS = 32;

/** @param exactCuts of the engine; if null, chunks are whole batches, the fewest possible cuts */
export function chunkRule(batchTokens: number, parameters: number, exactCuts: number | null): ChunkRule {
  if (exactCuts === null) return { largest: batchTokens, multiple: 1 };
  const largest = 2 ** Math.floor(Math.log2(WEIGHTS_PER_CHUNK / parameters));
  return { largest: Math.min(batchTokens, Math.max(MIN_CHUNK_TOKENS, largest)), multiple: exactCuts };
}

/**
 * Cuts tokens into chunks to evaluate one after the other. No chunk has a single token: llama.cpp computes those with another
 * kernel, so their bits would depend on the cut.
 * @param lastAtLeast minimum size of the last chunk, at least two; may exceed `largest`
 * @throws RangeError for a single token
 */
export function chunkTokens(tokens: TokenIds, { largest, multiple }: ChunkRule, lastAtLeast = 2): TokenId[][] {
  if (tokens.length < 2) {
    throw new RangeError(`${tokens.length} tokens to evaluate, expected at least 2`);
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
