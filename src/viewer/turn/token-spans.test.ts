import { describe, expect, it } from 'vitest';
import { tokenSpans } from './token-spans.ts';

const pieces = new Map([
  [1, ' My'],
  [2, ' sis'],
  [3, 'ter'],
  [4, '\n'],
  [5, '\ufffd'],
  [6, '\ufffd'],
  [7, '\ufffd'],
  [8, '好'],
  [9, '你\ufffd'],
  [10, ''],
  [11, '你'],
]);

describe('token spans', () => {
  it('are one a token where every piece is whole', () => {
    expect(tokenSpans(' My sister\n', [1, 2, 3, 4], pieces)).toEqual([
      { text: ' My', ids: [1] },
      { text: ' sis', ids: [2] },
      { text: 'ter', ids: [3] },
      { text: '\n', ids: [4] },
    ]);
  });

  it('hold all tokens of a character that several make', () => {
    expect(tokenSpans('你好', [5, 6, 7, 8], pieces)).toEqual([
      { text: '你', ids: [5, 6, 7] },
      { text: '好', ids: [8] },
    ]);
    expect(tokenSpans(' My😀ter', [1, 5, 6, 7, 5, 3], pieces)).toEqual([
      { text: ' My', ids: [1] },
      { text: '😀', ids: [5, 6, 7, 5] },
      { text: 'ter', ids: [3] },
    ]);
  });

  it('take a character that stands in parts, and again whole, for two', () => {
    expect(tokenSpans('你你好', [5, 6, 7, 11, 8], pieces).map(({ text }) => text)).toEqual(['你', '你', '好']);
  });

  it('keep a piece that is whole but for its end with what completes it', () => {
    expect(tokenSpans('你们好', [9, 6, 7, 8], pieces)).toEqual([
      { text: '你们', ids: [9, 6, 7] },
      { text: '好', ids: [8] },
    ]);
  });

  it('give a token without text a span of its own', () => {
    expect(tokenSpans('', [10], pieces)).toEqual([{ text: '', ids: [10] }]);
    expect(tokenSpans('ter', [10, 3], pieces)).toEqual([
      { text: '', ids: [10] },
      { text: 'ter', ids: [3] },
    ]);
  });

  it('find the space that a tokeniser left out of the piece', () => {
    expect(tokenSpans(' My ter', [1, 3], pieces)).toEqual([
      { text: ' My', ids: [1] },
      { text: ' ter', ids: [3] },
    ]);
  });

  it('make the whole text and hold every id, whatever the pieces', () => {
    for (const [text, ids] of [
      ['nothing fits', [1, 2, 3]],
      [' My unknown\nter', [1, 99, 98, 4, 3]],
      ['你', [5, 6, 7]],
      [' My and more', [1]],
      ['', [5, 3]],
      ['no tokens', []],
      ['x'.repeat(20_000), Array.from({ length: 4000 }, (_, index) => 100 + index)],
    ] as const) {
      const spans = tokenSpans(text, ids, pieces);
      expect(spans.map((span) => span.text).join('')).toBe(text);
      expect(spans.flatMap((span) => span.ids)).toEqual(ids);
    }
  });
});
