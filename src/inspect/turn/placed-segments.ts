import type { AnsweredTurn, Segment } from '../stored-turn.ts';

/** A segment at its place in the sequence. */
export interface PlacedSegment extends Segment {
  /** Of its first token, from 0. */
  readonly cell: number;
  /** Of its first token; other than the cell behind blocks that share positions. */
  readonly position: number;
}

/** The segments of the final sequence with the cells and positions that they take. */
export function placedSegments({ promptInfo: { segments }, kv, tokens }: AnsweredTurn): PlacedSegment[] {
  const all = segments.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  const parallel = kv?.mode === 'parallel' ? kv : undefined;
  const blocks = new Map(parallel?.blocks.map(({ memoryId, position }) => [memoryId, position]));
  const lastBlock = segments.findLastIndex(({ memoryId }) => memoryId !== undefined && blocks.has(memoryId));
  let cell = 0;
  return segments.map((segment, index) => {
    const own = segment.memoryId === undefined ? undefined : blocks.get(segment.memoryId);
    const shared = parallel !== undefined && index > lastBlock ? all - tokens.positions : 0;
    const placed = { ...segment, cell, position: own ?? cell - shared };
    cell += segment.tokenIds.length;
    return placed;
  });
}

/** The parts of a sequence that are told apart by colour. */
export type SegmentKind = 'system' | 'memory' | 'history' | 'query';

const kinds: Readonly<Record<string, SegmentKind>> = {
  memoryHeader: 'memory',
  memory: 'memory',
  memoryFooter: 'memory',
  historyHeader: 'history',
  history: 'history',
  historyFooter: 'history',
  query: 'query',
  footer: 'query',
};

/** What a segment is a part of; all that comes before the memories belongs to the system. */
export function kindOf(role: string): SegmentKind {
  return kinds[role] ?? 'system';
}

const labels: Readonly<Record<string, string>> = {
  bos: 'BOS',
  memoryHeader: 'memory header',
  memoryFooter: 'memory footer',
  historyHeader: 'history header',
  historyFooter: 'history footer',
};

/** The name of a segment for readers. */
export function labelOf({ role, memoryId }: Pick<Segment, 'role'> & { readonly memoryId?: string }): string {
  const label = labels[role] ?? role;
  return memoryId === undefined ? label : `${label} ${memoryId}`;
}
