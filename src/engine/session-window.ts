import type { EngineRequest } from './engine-adapter.ts';
import type { Window } from './sequence-state.ts';

/** Limit of the default window; a request may name a longer one. */
const LONGEST_DEFAULT_CONTEXT_TOKENS = 4096;

/** The requested window of a session. @param longest the most positions that model or server allows */
export function sessionWindow(request: Omit<EngineRequest, 'model'>, longest: number): Window {
  const { contextTokens: given, cellsPerPosition = 1 } = request;
  const contextTokens = given ?? Math.min(longest, LONGEST_DEFAULT_CONTEXT_TOKENS);
  return { contextTokens, cellTokens: contextTokens * cellsPerPosition };
}
