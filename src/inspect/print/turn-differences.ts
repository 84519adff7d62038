import type { AnsweredTurn } from '../stored-turn.ts';
import { sequenceDifference } from '../turn/sequence-difference.ts';

/** The first place at which two lists differ, or undefined. */
function firstDifference(a: readonly number[], b: readonly number[]): number | undefined {
  const [longer, shorter] = a.length >= b.length ? [a, b] : [b, a];
  const place = longer.findIndex((id, index) => id !== shorter[index]);
  return place === -1 ? undefined : place;
}

/** The segment in which a token of the sequence stands. */
function segmentAt({ promptInfo: { segments } }: AnsweredTurn, token: number): string {
  let end = 0;
  for (const { role, memoryId, tokenIds } of segments) {
    end += tokenIds.length;
    if (token < end) return memoryId === undefined ? role : `${role} ${memoryId}`;
  }
  return 'the end';
}

const idsOf = ({ promptInfo }: AnsweredTurn) => promptInfo.segments.flatMap(({ tokenIds }) => tokenIds);
const keptBy = ({ promptInfo }: AnsweredTurn) =>
  promptInfo.segments.flatMap(({ memoryId }) => (memoryId === undefined ? [] : [memoryId]));

/** More segments that differ would fill the terminal. */
const MOST_SEGMENTS = 12;

/** The segments that the sequences do not share, a line each. */
function differingSegments(a: AnsweredTurn, b: AnsweredTurn): string[] {
  const names = { 'only-here': `only in ${a.arm}`, 'only-there': `only in ${b.arm}`, changed: 'changed' } as const;
  const lines = sequenceDifference(a, b, new Map()).segments.flatMap((segment) =>
    segment.kind === 'same' ? [] : [`  ${names[segment.kind]}: ${segment.label}`],
  );
  const more = lines.length - MOST_SEGMENTS;
  return more <= 0 ? lines : [...lines.slice(0, MOST_SEGMENTS), `  and ${more} more segments`];
}

/** What two arms did differently with one item, a line for each point. */
export function turnDifferences(a: AnsweredTurn, b: AnsweredTurn): string[] {
  const place = firstDifference(idsOf(a), idsOf(b));
  const kept = [keptBy(a), keptBy(b)] as const;
  const ttft = [a, b].map(({ timings }) => timings.firstToken.toFixed(1));
  return [
    a.answer === b.answer
      ? 'answers: the same'
      : `answers: ${a.arm} ${JSON.stringify(a.answer)}, ${b.arm} ${JSON.stringify(b.answer)}`,
    place === undefined
      ? `sequences: identical, ${idsOf(a).length} tokens`
      : `sequences: differ from token ${place} (${a.arm}: ${segmentAt(a, place)}; ${b.arm}: ${segmentAt(b, place)})`,
    ...differingSegments(a, b),
    kept[0].join() === kept[1].join()
      ? `memories: the same ${kept[0].length}, in the same order`
      : `memories: ${a.arm} ${kept[0].join(', ') || 'none'}; ${b.arm} ${kept[1].join(', ') || 'none'}`,
    `evaluated tokens: ${a.arm} ${a.tokens.evaluated}, ${b.arm} ${b.tokens.evaluated}`,
    `first token: ${a.arm} ${ttft[0]!} ms, ${b.arm} ${ttft[1]!} ms`,
  ];
}
