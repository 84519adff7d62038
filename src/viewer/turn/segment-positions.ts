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

/** The parts of a sequence that pages colour differently; everything before the memories counts as system. */
const kinds: Readonly<Partial<Record<SegmentRole, SectionSegment['kind']>>> = {
  memoryHeader: 'memory',
  memory: 'memory',
  memoryFooter: 'memory',
  historyHeader: 'history',
  history: 'history',
  historyFooter: 'history',
  query: 'query',
  footer: 'query',
  answerPrefix: 'query',
};

export function segmentKind(role: SegmentRole): SectionSegment['kind'] {
  return kinds[role] ?? 'system';
}

const labels: Readonly<Partial<Record<SegmentRole, string>>> = {
  bos: 'BOS',
  memoryHeader: 'memory header',
  memoryFooter: 'memory footer',
  historyHeader: 'history header',
  historyFooter: 'history footer',
  answerPrefix: 'answer prefix',
};

export function segmentName({ role, memoryId }: Pick<PromptSegment, 'role' | 'memoryId'>): string {
  const label = labels[role] ?? role;
  return memoryId === undefined ? label : `${label} ${memoryId}`;
}

/** `8 tokens from 14`, or `8 tokens from cell 20, position 14`. */
export function segmentPlace({ tokenIds, cell, position }: SegmentWithPosition): string {
  const place = cell === position ? `from ${cell}` : `from cell ${cell}, position ${position}`;
  return `${countText(tokenIds.length, 'token')} ${place}`;
}
