import type { TokenRange } from '../../engine/token-id.ts';
import type { PromptSegment } from '../../store/records/prompt-info.ts';

/**
 * The tokens of the question among those of segments; of a question without a token of its own the one in front of its place.
 * @param segments of a suffix: those behind the memories
 */
export function questionRange(segments: readonly Pick<PromptSegment, 'role' | 'tokenIds'>[]): TokenRange {
  const place = segments.findLastIndex(({ role }) => role === 'query');
  const end = segments.slice(0, place + 1).reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  return { start: Math.max(0, end - Math.max(1, segments[place]?.tokenIds.length ?? 0)), end };
}
