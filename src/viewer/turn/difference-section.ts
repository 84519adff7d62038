import { type Content, plainText, type Section, textBlocks, type TokenSpan } from '../../render/section.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { segmentName } from './placed-segments.ts';
import { type SegmentDifference, sequenceDifference } from './sequence-difference.ts';

const MOST_SEGMENTS = 60;
const MOST_PRINTED = 12;
const MOST_BYTES = 250;
const AROUND = 30;

const originNames = { evaluated: 'as text', injected: 'as KV' } as const;

/** The difference of a turn's sequence to that of another arm. @param pieces texts of the tokens of both, by id */
export function differenceSection(
  turn: AnsweredTurn,
  against: AnsweredTurn,
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
    blocks: [...textBlocks(summary), { kind: 'list', items, what: 'segments', most: MOST_SEGMENTS }],
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
  const inserted = (spans: readonly TokenSpan[]) =>
    ({ text: joinedText(spans), look: 'inserted', most: MOST_BYTES }) as const;
  const deleted = (spans: readonly TokenSpan[]) =>
    ({ text: joinedText(spans), look: 'deleted', most: MOST_BYTES }) as const;
  switch (difference.kind) {
    case 'same': {
      const { moved, origins, tokens } = difference;
      const notes = [
        `${tokens} token${tokens === 1 ? '' : 's'}`,
        moved === undefined ? '' : `position ${moved.here} here, ${moved.there} there`,
        origins === undefined ? '' : `${originNames[origins.here]} here, ${originNames[origins.there]} there`,
      ];
      return ['= ', name, { text: ` same, ${notes.filter((note) => note !== '').join('; ')}`, look: 'soft' }];
    }
    case 'only-here':
      return ['+ ', name, ` only in ${here}: `, inserted(difference.spans)];
    case 'only-there':
      return ['− ', name, ` only in ${there}: `, deleted(difference.spans)];
    case 'changed':
      return [
        '± ',
        name,
        ` ${around(difference.before, true)}`,
        deleted(difference.there),
        inserted(difference.here),
        around(difference.after, false),
      ];
  }
}

const tokenIds = ({ prompt }: AnsweredTurn): number[] => prompt.segments.flatMap((segment) => segment.tokenIds);

const promptMemories = ({ prompt }: AnsweredTurn): string[] =>
  prompt.segments.flatMap(({ memoryId }) => (memoryId === undefined ? [] : [memoryId]));

function segmentAt({ prompt: { segments } }: AnsweredTurn, token: number): string {
  let end = 0;
  for (const segment of segments) {
    end += segment.tokenIds.length;
    if (token < end) return segmentName(segment);
  }
  return 'the end';
}

/** The first place at which two lists differ; undefined if they are equal. */
function firstDifference(a: readonly number[], b: readonly number[]): number | undefined {
  const [longer, shorter] = a.length >= b.length ? [a, b] : [b, a];
  const place = longer.findIndex((id, index) => id !== shorter[index]);
  return place === -1 ? undefined : place;
}

/** Compares two arms on one item, for the terminal. */
export function turnDifferences(a: AnsweredTurn, b: AnsweredTurn): Section {
  const [idsA, idsB] = [tokenIds(a), tokenIds(b)];
  const place = firstDifference(idsA, idsB);
  const [memoriesA, memoriesB] = [promptMemories(a), promptMemories(b)];
  const both = (value: (turn: AnsweredTurn) => string): string => `${a.arm} ${value(a)}, ${b.arm} ${value(b)}`;
  const segments = sequenceDifference(a, b, new Map()).segments.filter(({ kind }) => kind !== 'same');
  return {
    id: 'differences',
    heading: `Differences between ${a.arm} and ${b.arm}`,
    blocks: [
      {
        kind: 'pairs',
        rows: [
          ['answers', a.answer.text === b.answer.text ? 'the same' : both(({ answer }) => JSON.stringify(answer.text))],
          [
            'sequences',
            place === undefined
              ? `identical, ${idsA.length} tokens`
              : `differ from token ${place} (${a.arm}: ${segmentAt(a, place)}; ${b.arm}: ${segmentAt(b, place)})`,
          ],
          [
            'memories',
            memoriesA.join() === memoriesB.join()
              ? `the same ${memoriesA.length}, in the same order`
              : `${a.arm} ${memoriesA.join(', ') || 'none'}; ${b.arm} ${memoriesB.join(', ') || 'none'}`,
          ],
          ['evaluated tokens', both(({ tokens }) => String(tokens.evaluated))],
          ['first token', both(({ timings }) => `${timings.firstToken.toFixed(1)} ms`)],
        ],
      },
      {
        kind: 'list',
        items: segments.map((segment) => plainText(segmentContent(segment, a.arm, b.arm))),
        what: 'segments that differ',
        most: MOST_PRINTED,
      },
    ],
  };
}
