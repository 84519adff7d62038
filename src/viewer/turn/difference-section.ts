import { countText } from '../../render/format-number.ts';
import { type Content, type Look, type Phrase, plainText, type Section, textBlocks, type TokenSpan } from '../../render/section.ts'; // prettier-ignore
import type { AnsweredDisplayTurn } from '../turn-scores-for-display.ts';
import { segmentName } from './segment-positions.ts';
import { type SegmentDifference, sequenceDifference } from './sequence-difference.ts';

const MAX_SEGMENTS = 60;
const MAX_PRINTED = 12;
const MAX_BYTES = 250;
const AROUND = 30;

const originNames = { evaluated: 'as text', injected: 'as KV' } as const;

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
  prompt.segments.flatMap(({ memoryId }) => (memoryId === undefined ? [] : [memoryId]));

function segmentAt({ prompt: { segments } }: AnsweredDisplayTurn, token: number): string {
  let end = 0;
  for (const segment of segments) {
    end += segment.tokenIds.length;
    if (token < end) return segmentName(segment);
  }
  return 'the end';
}

/** Summary of the differences between two turns: answers, sequences, memories and cost. */
export function turnDifferences(a: AnsweredDisplayTurn, b: AnsweredDisplayTurn): Section {
  const [idsA, idsB] = [tokenIds(a), tokenIds(b)];
  const place = (idsA.length >= idsB.length ? idsA : idsB).findIndex((_, index) => idsA[index] !== idsB[index]);
  const [memoriesA, memoriesB] = [promptMemories(a), promptMemories(b)];
  const differing = `differ from token ${place} (${a.arm}: ${segmentAt(a, place)}; ${b.arm}: ${segmentAt(b, place)})`;
  const others = `${a.arm} ${memoriesA.join(', ') || 'none'}; ${b.arm} ${memoriesB.join(', ') || 'none'}`;
  const both = (value: (turn: AnsweredDisplayTurn) => string): Phrase[] => [
    { text: `${a.arm} ${value(a)}, `, most: MAX_BYTES },
    { text: `${b.arm} ${value(b)}`, most: MAX_BYTES },
  ];
  const segments = sequenceDifference(a, b, new Map()).segments.filter(({ kind }) => kind !== 'same');
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
      {
        kind: 'list',
        items: segments.map((segment) => plainText(segmentContent(segment, a.arm, b.arm))),
        what: 'segments that differ',
        most: MAX_PRINTED,
      },
    ],
  };
}
