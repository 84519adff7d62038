import { countText } from '../../render/format-number.ts';
import type { SectionSegment } from '../../render/section.ts';
import type { PromptSegment, SegmentRole } from '../../store/records/prompt-info.ts';
import type { AnsweredDisplayTurn } from '../turn-scores-for-display.ts';

export type SegmentWithPosition = ReturnType<typeof segmentsWithPositions>[number];

/** Adds to each segment the cell and position of its first token, which differ after blocks that share positions or keep sink tokens. */
export function segmentsWithPositions({ prompt: { segments }, prefill, tokens }: AnsweredDisplayTurn) {
  const all = segments.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  const joined = prefill === null || prefill.strategy === 'prefix' ? undefined : prefill;
  const sink = joined?.making?.sink?.kept === true ? joined.making.sink.tokens : 0;
  const moved = joined?.strategy === 'parallel' || sink > 0 ? joined : undefined;
  const blocks = new Map(moved?.blocks.map(({ memoryId, position }) => [memoryId, position]));
  const lastBlock = segments.findLastIndex(({ memoryId }) => memoryId !== undefined && blocks.has(memoryId));
  let cell = 0;
  return segments.map((segment, index) => {
    const own = segment.memoryId === undefined ? undefined : blocks.get(segment.memoryId);
    if (own !== undefined) cell += sink;
    const cells = all + sink * blocks.size;
    const shared = moved !== undefined && index > lastBlock ? cells - tokens.positions : 0;
    const placed = { ...segment, cell, position: own ?? cell - shared };
    cell += segment.tokenIds.length;
    return placed;
  });
}

/** The part of a sequence that a segment belongs to, which pages colour alike; everything before the memories counts as system. */
export function segmentKind(role: SegmentRole): SectionSegment['kind'] {
  if (role.startsWith('memory')) return 'memory';
  if (role.startsWith('history')) return 'history';
  return role === 'query' || role === 'footer' || role === 'answerPrefix' ? 'query' : 'system';
}

/** The role in words, and the memory: `memory header`, `memory m-1`. */
export function segmentName({ role, memoryId }: Pick<PromptSegment, 'role' | 'memoryId'>): string {
  const label = role === 'bos' ? 'BOS' : role.replace(/[A-Z]/, (letter) => ` ${letter.toLowerCase()}`);
  return memoryId === undefined ? label : `${label} ${memoryId}`;
}

/** `8 tokens from 14`, or `8 tokens from cell 20, position 14`. */
export function segmentPlace({ tokenIds, cell, position }: SegmentWithPosition): string {
  const place = cell === position ? `from ${cell}` : `from cell ${cell}, position ${position}`;
  return `${countText(tokenIds.length, 'token')} ${place}`;
}
