import type { AnsweredDisplayTurn } from '../turn-scores-for-display.ts';
import { segmentName, type SegmentWithPosition, segmentsWithPositions } from './segment-positions.ts';
import {
  type TokenSpan,
  type Content,
  type Look,
  type Phrase,
  plainText,
  type Section,
  textBlocks,
} from '../../render/section.ts';
import { tokenSpans } from './token-spans.ts';
import { countText } from '../../render/format-number.ts';

/** Later segments are not aligned, since the alignment table grows with the product of both lengths. */
const MAX_ALIGNED = 1000;

/** Aligns two lists of segments by role and memory. A segment without a counterpart is paired with undefined. */
function alignedSegments(here: readonly SegmentWithPosition[], there: readonly SegmentWithPosition[]) {
  const same = (a: SegmentWithPosition, b: SegmentWithPosition) => a.role === b.role && a.memoryId === b.memoryId;
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
function changedSegment(label: string, a: readonly TokenSpan[], b: readonly TokenSpan[]) {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && sameSpan(a[start], b[start])) start++;
  let end = 0;
  while (end < shorter - start && sameSpan(a[a.length - 1 - end], b[b.length - 1 - end])) end++;
  return {
    kind: 'changed' as const,
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
  const segments = alignedSegments(segmentsWithPositions(here), segmentsWithPositions(there)).map(([a, b]) => {
    const label = segmentName((a ?? b)!);
    if (a === undefined || b === undefined) {
      counts[a === undefined ? 'onlyThere' : 'onlyHere'] += (a ?? b)!.tokenIds.length;
      const kind = a === undefined ? ('only-there' as const) : ('only-here' as const);
      return { kind, label, spans: segmentSpans((a ?? b)!, pieces) };
    }
    const tokens = a.tokenIds.length;
    if (a.tokenIds.join() === b.tokenIds.join()) {
      const moved = a.position === b.position ? undefined : { here: a.position, there: b.position };
      counts.sameTokens += tokens;
      if (moved !== undefined) counts.movedTokens += tokens;
      const origins = a.origin === b.origin ? undefined : { here: a.origin, there: b.origin };
      return { kind: 'same' as const, label, tokens, moved, origins };
    }
    const difference = changedSegment(label, segmentSpans(a, pieces), segmentSpans(b, pieces));
    counts.onlyHere += tokenCount(difference.here);
    counts.onlyThere += tokenCount(difference.there);
    counts.sameTokens += tokenCount(difference.before) + tokenCount(difference.after);
    return difference;
  });
  return { segments, ...counts };
}

const MAX_SEGMENTS = 60;
const MAX_PRINTED = 12;
const MAX_BYTES = 250;
const AROUND = 30;

const originNames = { evaluated: 'as text', injected: 'as KV' } as const;

type SegmentDifference = ReturnType<typeof sequenceDifference>['segments'][number];

/** The difference between the sequences of a turn and of another arm. @param pieces texts of the tokens of both, by id */
export function differenceSection(
  turn: AnsweredDisplayTurn,
  against: AnsweredDisplayTurn,
  pieces: ReadonlyMap<number, string>,
): Section {
  const { segments, sameTokens, onlyHere, onlyThere, movedTokens } = sequenceDifference(turn, against, pieces);
  const places = movedTokens === 0 ? 'at the same positions' : `${movedTokens} of them at other positions`;
  const summary =
    onlyHere === 0 && onlyThere === 0
      ? `The same ${sameTokens} tokens, ${places}.`
      : `${sameTokens} tokens are the same, ${places}; ${onlyHere} only here, ${onlyThere} only in ${against.arm}.`;
  const items = segments.map((segment) => segmentContent(segment, turn.arm, against.arm));
  return {
    id: 'difference',
    heading: `Difference to ${against.arm}`,
    blocks: [...textBlocks(summary), { kind: 'list', items, what: 'segments', most: MAX_SEGMENTS }],
  };
}

const joinedText = (spans: readonly TokenSpan[]): string => spans.map(({ text }) => text).join('');

function around(spans: readonly TokenSpan[], isEnd: boolean): string {
  const text = joinedText(spans);
  const characters = [...text.slice(isEnd ? -80 : 0, isEnd ? undefined : 80)];
  if (characters.length <= AROUND) return text;
  return isEnd ? `…${characters.slice(-AROUND).join('')}` : `${characters.slice(0, AROUND).join('')}…`;
}

function segmentContent(difference: SegmentDifference, here: string, there: string): Content {
  const name = { text: difference.label, look: 'strong' } as const;
  const long = (spans: readonly TokenSpan[], look: Look): Phrase => ({
    text: joinedText(spans),
    look,
    most: MAX_BYTES,
  });
  switch (difference.kind) {
    case 'same': {
      const { moved, origins, tokens } = difference;
      const notes = [
        countText(tokens, 'token'),
        moved === undefined ? '' : `position ${moved.here} here, ${moved.there} there`,
        origins === undefined ? '' : `${originNames[origins.here]} here, ${originNames[origins.there]} there`,
      ];
      return ['= ', name, { text: ` same, ${notes.filter((note) => note !== '').join('; ')}`, look: 'soft' }];
    }
    case 'only-here':
      return ['+ ', name, ` only in ${here}: `, long(difference.spans, 'inserted')];
    case 'only-there':
      return ['− ', name, ` only in ${there}: `, long(difference.spans, 'deleted')];
    case 'changed':
      return [
        '± ',
        name,
        ` ${around(difference.before, true)}`,
        long(difference.there, 'deleted'),
        long(difference.here, 'inserted'),
        around(difference.after, false),
      ];
  }
}

const tokenIds = ({ prompt }: AnsweredDisplayTurn): number[] => prompt.segments.flatMap((segment) => segment.tokenIds);

const promptMemories = ({ prompt }: AnsweredDisplayTurn): string[] =>
  prompt.segments.flatMap(({ memoryId }) => memoryId ?? []);

function segmentAt({ prompt: { segments } }: AnsweredDisplayTurn, token: number): string {
  let end = 0;
  for (const segment of segments) {
    end += segment.tokenIds.length;
    if (token < end) return segmentName(segment);
  }
  return 'the end';
}

/** Summary of the differences between two turns: answers, sequences, memories and cost. */
export function differenceSummary(a: AnsweredDisplayTurn, b: AnsweredDisplayTurn): Section {
  const [idsA, idsB] = [tokenIds(a), tokenIds(b)];
  const place = (idsA.length >= idsB.length ? idsA : idsB).findIndex((_, index) => idsA[index] !== idsB[index]);
  const [memoriesA, memoriesB] = [promptMemories(a), promptMemories(b)];
  const differing = `differ from token ${place} (${a.arm}: ${segmentAt(a, place)}; ${b.arm}: ${segmentAt(b, place)})`;
  const others = `${a.arm} ${memoriesA.join(', ') || 'none'}; ${b.arm} ${memoriesB.join(', ') || 'none'}`;
  const both = (value: (turn: AnsweredDisplayTurn) => string): Phrase[] => [
    { text: `${a.arm} ${value(a)}, `, most: MAX_BYTES },
    { text: `${b.arm} ${value(b)}`, most: MAX_BYTES },
  ];
  return {
    id: 'differences',
    heading: `Differences between ${a.arm} and ${b.arm}`,
    blocks: [
      {
        kind: 'pairs',
        rows: [
          ['answers', a.answer.text === b.answer.text ? 'the same' : both(({ answer }) => JSON.stringify(answer.text))],
          ['sequences', place === -1 ? `identical, ${idsA.length} tokens` : differing],
          [
            'memories',
            memoriesA.join() === memoriesB.join()
              ? `the same ${memoriesA.length}, in the same order`
              : { text: others, most: MAX_BYTES },
          ],
          ['evaluated tokens', both(({ tokens }) => String(tokens.evaluated))],
          ['first token', both(({ timings }) => `${timings.firstToken.toFixed(1)} ms`)],
        ],
      },
    ],
  };
}

/** The summary, with the segments that differ, for a terminal. */
export function turnDifferences(a: AnsweredDisplayTurn, b: AnsweredDisplayTurn): Section {
  const { blocks, ...summary } = differenceSummary(a, b);
  const segments = sequenceDifference(a, b, new Map()).segments.filter(({ kind }) => kind !== 'same');
  const items = segments.map((segment) => plainText(segmentContent(segment, a.arm, b.arm)));
  return { ...summary, blocks: [...blocks, { kind: 'list', items, what: 'segments that differ', most: MAX_PRINTED }] };
}
