import type { AnsweredDisplayTurn } from '../turn-scores-for-display.ts';
import { segmentName, type SegmentWithPosition, segmentsWithPositions } from './segment-positions.ts';
import type { TokenSpan } from '../../render/section.ts';
import { tokenSpans } from './token-spans.ts';

export type SegmentDifference =
  | {
      readonly kind: 'same';
      readonly label: string;
      readonly tokens: number;
      readonly moved: { readonly here: number; readonly there: number } | undefined;
      readonly origins: { readonly here: Origin; readonly there: Origin } | undefined;
    }
  | { readonly kind: 'only-here' | 'only-there'; readonly label: string; readonly spans: readonly TokenSpan[] }
  | {
      readonly kind: 'changed';
      readonly label: string;
      readonly before: readonly TokenSpan[];
      readonly here: readonly TokenSpan[];
      readonly there: readonly TokenSpan[];
      readonly after: readonly TokenSpan[];
    };

type Origin = SegmentWithPosition['origin'];

/** Later segments are not aligned, since the alignment table grows with the product of both lengths. */
const MAX_ALIGNED = 1000;

/** Aligns two lists of segments by role and memory. A segment without a counterpart is paired with undefined. */
function alignedSegments(
  here: readonly SegmentWithPosition[],
  there: readonly SegmentWithPosition[],
): (readonly [SegmentWithPosition | undefined, SegmentWithPosition | undefined])[] {
  const same = (a: SegmentWithPosition, b: SegmentWithPosition): boolean =>
    a.role === b.role && a.memoryId === b.memoryId;
  const [rows, columns] = [Math.min(here.length, MAX_ALIGNED), Math.min(there.length, MAX_ALIGNED)];
  // longest[i][j]: length of the longest common subsequence of here[i..] and there[j..].
  const longest = Array.from({ length: rows + 1 }, () => new Array<number>(columns + 1).fill(0));
  for (let i = rows - 1; i >= 0; i--) {
    for (let j = columns - 1; j >= 0; j--) {
      longest[i]![j] = same(here[i]!, there[j]!)
        ? longest[i + 1]![j + 1]! + 1
        : Math.max(longest[i + 1]![j]!, longest[i]![j + 1]!);
    }
  }
  const pairs: (readonly [SegmentWithPosition | undefined, SegmentWithPosition | undefined])[] = [];
  let [i, j] = [0, 0];
  while (i < rows || j < columns) {
    if (i < rows && j < columns && same(here[i]!, there[j]!)) pairs.push([here[i++], there[j++]]);
    else if (j === columns || (i < rows && longest[i + 1]![j]! >= longest[i]![j + 1]!)) {
      pairs.push([here[i++], undefined]);
    } else pairs.push([undefined, there[j++]]);
  }
  return [
    ...pairs,
    ...here.slice(rows).map((segment) => [segment, undefined] as const),
    ...there.slice(columns).map((segment) => [undefined, segment] as const),
  ];
}

function segmentSpans({ text, tokenIds }: SegmentWithPosition, pieces: ReadonlyMap<number, string>): TokenSpan[] {
  return pieces.size === 0 ? [{ text, ids: tokenIds }] : tokenSpans(text, tokenIds, pieces);
}

const tokenCount = (spans: readonly TokenSpan[]): number => spans.reduce((sum, { ids }) => sum + ids.length, 0);

function sameSpan(a: TokenSpan | undefined, b: TokenSpan | undefined): boolean {
  return a?.text === b?.text && a?.ids.join() === b?.ids.join();
}

/** Splits two segments into their common beginning, their common end and the two middles. */
function changedSegment(
  label: string,
  a: readonly TokenSpan[],
  b: readonly TokenSpan[],
): Extract<SegmentDifference, { kind: 'changed' }> {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && sameSpan(a[start], b[start])) start++;
  let end = 0;
  while (end < shorter - start && sameSpan(a[a.length - 1 - end], b[b.length - 1 - end])) end++;
  return {
    kind: 'changed',
    label,
    before: a.slice(0, start),
    here: a.slice(start, a.length - end),
    there: b.slice(start, b.length - end),
    after: a.slice(a.length - end),
  };
}

/** Compares two sequences segment by segment. @param pieces texts of tokens by id; if empty, each segment is one span */
export function sequenceDifference(
  here: AnsweredDisplayTurn,
  there: AnsweredDisplayTurn,
  pieces: ReadonlyMap<number, string>,
) {
  const counts = { sameTokens: 0, onlyHere: 0, onlyThere: 0, movedTokens: 0 };
  const segments = alignedSegments(segmentsWithPositions(here), segmentsWithPositions(there)).map(
    ([a, b]): SegmentDifference => {
      const label = segmentName((a ?? b)!);
      if (a === undefined || b === undefined) {
        counts[a === undefined ? 'onlyThere' : 'onlyHere'] += (a ?? b)!.tokenIds.length;
        return { kind: a === undefined ? 'only-there' : 'only-here', label, spans: segmentSpans((a ?? b)!, pieces) };
      }
      const tokens = a.tokenIds.length;
      if (a.tokenIds.join() === b.tokenIds.join()) {
        const moved = a.position === b.position ? undefined : { here: a.position, there: b.position };
        counts.sameTokens += tokens;
        if (moved !== undefined) counts.movedTokens += tokens;
        const origins = a.origin === b.origin ? undefined : { here: a.origin, there: b.origin };
        return { kind: 'same', label, tokens, moved, origins };
      }
      const difference = changedSegment(label, segmentSpans(a, pieces), segmentSpans(b, pieces));
      counts.onlyHere += tokenCount(difference.here);
      counts.onlyThere += tokenCount(difference.there);
      counts.sameTokens += tokenCount(difference.before) + tokenCount(difference.after);
      return difference;
    },
  );
  return { segments, ...counts };
}
