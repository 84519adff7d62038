import { expect, it } from 'vitest';
import { tokenSpans } from './token-spans.ts';

const texts = [' My', ' sis', 'ter', '\n', '\ufffd', '\ufffd', '\ufffd', '好', '你\ufffd', '', '你'];
const pieces = new Map(texts.map((text, index) => [index + 1, text]));

type Spans = Record<string, readonly number[]>;

it.each<[what: string, text: string, spans: Spans]>([
  ['one a token where every piece is whole', ' My sister\n', { ' My': [1], ' sis': [2], ter: [3], '\n': [4] }],
  ['all tokens of a character that several make', '你好', { 你: [5, 6, 7], 好: [8] }],
  ['all tokens of a character outside the basic plane', ' My😀ter', { ' My': [1], '😀': [5, 6, 7, 5], ter: [3] }],
  ['a piece that is whole but for its end with what completes it', '你们好', { 你们: [9, 6, 7], 好: [8] }],
  ['a token without text on its own', '', { '': [10] }],
  ['a token without text before another', 'ter', { '': [10], ter: [3] }],
  ['the space that a tokeniser left out of the piece', ' My ter', { ' My': [1], ' ter': [3] }],
])('spans hold %s', (_, text, spans) => {
  const ids = Object.values(spans).flat();
  expect(tokenSpans(text, ids, pieces)).toEqual(Object.entries(spans).map(([text, ids]) => ({ text, ids })));
});

it('treats a character in parts and the same one whole as two', () => {
  expect(tokenSpans('你你好', [5, 6, 7, 11, 8], pieces).map(({ text }) => text)).toEqual(['你', '你', '好']);
});

it.each<[text: string, ids: readonly number[]]>([
  ['nothing fits', [1, 2, 3]],
  [' My unknown\nter', [1, 99, 98, 4, 3]],
  ['你', [5, 6, 7]],
  [' My and more', [1]],
  ['', [5, 3]],
  ['no tokens', []],
  ['x'.repeat(20_000), Array.from({ length: 4000 }, (_, index) => 100 + index)],
])('spans make the whole text and hold every id, whatever the pieces: %#', (text, ids) => {
  const spans = tokenSpans(text, ids, pieces);
  expect(spans.map((span) => span.text).join('')).toBe(text);
  expect(spans.flatMap((span) => span.ids)).toEqual(ids);
});
