import type { AnsweredTurn } from '../stored-turn.ts';
import { sequenceDifference } from '../turn/sequence-difference.ts';

/** Finds the first place at which two lists differ; undefined if they are equal. */
function firstDifference(a: readonly number[], b: readonly number[]): number | undefined {
  const [longer, shorter] = a.length >= b.length ? [a, b] : [b, a];
  const place = longer.findIndex((id, index) => id !== shorter[index]);
  return place === -1 ? undefined : place;
}

/** The segment in which a token of the sequence stands. */
function segmentAt({ prompt: { segments } }: AnsweredTurn, token: number): string {
  let end = 0;
  for (const { role, memoryId, tokenIds } of segments) {
    end += tokenIds.length;
    if (token < end) return memoryId === undefined ? role : `${role} ${memoryId}`;
  }
  return 'the end';
}

const idsOf = ({ prompt }: AnsweredTurn) => prompt.segments.flatMap(({ tokenIds }) => tokenIds);
const keptBy = ({ prompt }: AnsweredTurn) =>
  prompt.segments.flatMap(({ memoryId }) => (memoryId === undefined ? [] : [memoryId]));

/** More segments would fill the terminal. */
const MOST_SEGMENTS = 12;

/** The segments that differ between the sequences, a line each. */
function differingSegments(a: AnsweredTurn, b: AnsweredTurn): string[] {
  const names = { 'only-here': `only in ${a.arm}`, 'only-there': `only in ${b.arm}`, changed: 'changed' } as const;
  const lines = sequenceDifference(a, b, new Map()).segments.flatMap((segment) =>
    segment.kind === 'same' ? [] : [`  ${names[segment.kind]}: ${segment.label}`],
  );
  const more = lines.length - MOST_SEGMENTS;
  return more <= 0 ? lines : [...lines.slice(0, MOST_SEGMENTS), `  and ${more} more segments`];
}

/** Compares two arms on one item, a line for each point. */
export function turnDifferences(a: AnsweredTurn, b: AnsweredTurn): string[] {
  const place = firstDifference(idsOf(a), idsOf(b));
  const kept = [keptBy(a), keptBy(b)] as const;
  const ttft = [a, b].map(({ timings }) => timings.firstToken.toFixed(1));
  return [
    a.answer.text === b.answer.text
      ? 'answers: the same'
      : `answers: ${a.arm} ${JSON.stringify(a.answer.text)}, ${b.arm} ${JSON.stringify(b.answer.text)}`,
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
