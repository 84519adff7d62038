import type { ChatResponse } from '../../../systems/contracts.ts';
import type { RecordedTurn } from './turn-recorder.ts';

/**
 * A response whose time to first token, whole time and evaluated tokens are those that the runner measured, and whose tokens
 * are those behind which the engine generated; the phases in between stay what the system says of itself.
 * @param retrieveMs the time of the retrieval that was made for all arms of the item; 0 for an arm that retrieves nothing
 */
export function measuredResponse(
  response: ChatResponse,
  { firstTokenMs, totalMs, evaluated, firstLayers, generation }: RecordedTurn,
  retrieveMs: number,
): ChatResponse {
  const { timings, tokens, trace } = response;
  const suffix = generation?.suffix ?? trace.suffix;
  const sessionTokens = generation === null ? trace.sessionTokens : [...generation.before, ...generation.suffix];
  return {
    ...response,
    latencyMs: retrieveMs + totalMs,
    timings: {
      ...timings,
      firstToken: retrieveMs + (firstTokenMs ?? totalMs),
      total: retrieveMs + totalMs,
    },
    tokens: { ...tokens, evaluated: evaluated ?? tokens.evaluated, ...(firstLayers === 0 ? {} : { firstLayers }) },
    trace: { ...trace, suffix, sessionTokens },
  };
}
