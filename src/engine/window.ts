import { BenchError } from '../base/bench-error.ts';
import type { EngineInfo } from './engine-info.ts';

/** The size of a session. */
export type Window = Pick<EngineInfo, 'contextTokens' | 'cellTokens'>;

/**
 * Refuses what does not fit. A window of n tokens has n − 1 cells to evaluate into: the last token of all is sampled,
 * never evaluated.
 * @param reserve tokens to follow, the sampled one included
 * @throws BenchError `context-overflow`
 */
export function requireSpace(window: Window, cells: number, positions: number, reserve: number): void {
  const { contextTokens, cellTokens } = window;
  if (cells + reserve > cellTokens) throw overflow(cells, reserve, cellTokens);
  if (positions + reserve > contextTokens) throw overflow(positions, reserve, contextTokens);
}

function overflow(tokens: number, reserve: number, windowTokens: number): BenchError {
  return new BenchError(
    'context-overflow',
    `${tokens} tokens and ${reserve} to follow do not fit into a window of ${windowTokens} tokens`,
    'shorten the text, keep fewer memories, or take a longer window: --context-tokens',
  );
}
