import { BenchError } from '../base/bench-error.ts';
import type { EngineRequest } from './engine-adapter.ts';
import type { EngineInfo } from './engine-info.ts';

export type Window = Pick<EngineInfo, 'contextTokens' | 'cellTokens'>;

/**
 * Refuses tokens that do not fit. A window of n tokens has n − 1 cells to evaluate into: the last token is sampled and never
 * evaluated.
 * @param reserve tokens to follow, with the sampled one
 * @throws BenchError `context-overflow`
 */
export function requireSpace(window: Window, cells: number, positions: number, reserve: number): void {
  const { contextTokens, cellTokens } = window;
  if (cells + reserve > cellTokens) throw overflow(cells, reserve, cellTokens);
  if (positions + reserve > contextTokens) throw overflow(positions, reserve, contextTokens);
}

function overflow(tokens: number, reserve: number, windowTokens: number): BenchError {
  const message = `${tokens} tokens and ${reserve} to follow do not fit into a window of ${windowTokens} tokens`;
  const hint = 'shorten the text, keep fewer memories, or take a longer window: --context-tokens';
  return new BenchError('context-overflow', message, hint);
}

/** Longest window unless a request names one. */
const LONGEST_DEFAULT_CONTEXT_TOKENS = 4096;

/** The requested size of a session. @param longest positions by default */
export function sessionWindow(request: Omit<EngineRequest, 'model'>, longest: number): Window {
  const { contextTokens: given, cellsPerPosition = 1 } = request;
  const contextTokens = given ?? Math.min(longest, LONGEST_DEFAULT_CONTEXT_TOKENS);
  return { contextTokens, cellTokens: contextTokens * cellsPerPosition };
}
