import { BenchError } from '../base/bench-error.ts';
import type { EngineRequest } from './engine-adapter.ts';

/** Limit of the default window; a request may name a longer one. */
const LONGEST_DEFAULT_CONTEXT_TOKENS = 4096;

/** Capacity of a session: more cells than positions if cells may share positions. */
export interface Window {
  readonly contextTokens: number;
  readonly cellTokens: number;
}

/** The requested window of a session. @param longest default number of positions, before the general limit */
export function sessionWindow(request: Omit<EngineRequest, 'model'>, longest: number): Window {
  const { contextTokens: given, cellsPerPosition = 1 } = request;
  const contextTokens = given ?? Math.min(longest, LONGEST_DEFAULT_CONTEXT_TOKENS);
  return { contextTokens, cellTokens: contextTokens * cellsPerPosition };
}

/**
 * Throws if tokens do not fit. Evaluation can fill n − 1 cells of a window of n tokens, because the last token is sampled and never
 * evaluated.
 * @param reserve tokens still to come, including the sampled one
 * @throws BenchError `context-overflow`
 */
export function requireSpace(window: Window, cells: number, positions: number, reserve: number): void {
  const { contextTokens, cellTokens } = window;
  if (cells + reserve > cellTokens) throw overflow(cells, reserve, cellTokens);
  if (positions + reserve > contextTokens) throw overflow(positions, reserve, contextTokens);
}

function overflow(tokens: number, reserve: number, windowTokens: number): BenchError {
  const message = `${tokens} tokens and ${reserve} more to come do not fit into a window of ${windowTokens} tokens`;
  const hint = 'shorten the text, keep fewer memories, or raise --context-tokens';
  return new BenchError('context-overflow', message, hint);
}
