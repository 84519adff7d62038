import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countSentences, firstSentence, sentenceEnd } from './sentence-boundaries.ts';

describe('the first sentence', () => {
  it.each([
    // An ordinary end.
    ['Your dentist is Dr. Dubois. He is in Lyon.', 'Your dentist is Dr. Dubois.'],
    ['In Lyon! Really?', 'In Lyon!'],
    ['Is it Lyon? I think so.', 'Is it Lyon?'],
    ['It was 2019. You moved.', 'It was 2019.'],
    ['in lyon. and then', 'in lyon.'],
    ['He said "In Lyon." Then he left.', 'He said "In Lyon."'],
    ['(In Lyon.) He left.', '(In Lyon.)'],
    ['**Lyon.** It is big.', '**Lyon.**'],
    ['Really?! Yes.', 'Really?!'],
    ['Lyon.你好', 'Lyon.'],
    // A line break.
    ['Lyon\nParis', 'Lyon'],
    ['Lyon  \r\nParis', 'Lyon'],
    ['\n\n Lyon\u2028Paris', 'Lyon'],
    ['Call Dr.\nDubois', 'Call Dr.'],
    ['According to your notes:\n\n- Lyon\n- Oslo', 'According to your notes:\n\n- Lyon'],
    // Titles.
    ['Mr. and Mrs. Smith of St. Louis vs. Prof. Kim. Yes.', 'Mr. and Mrs. Smith of St. Louis vs. Prof. Kim.'],
    ['Your doctor is dr. dubois. She is nice.', 'Your doctor is dr. dubois.'],
    // Initials.
    ['J. R. R. Tolkien wrote it. You like it.', 'J. R. R. Tolkien wrote it.'],
    ['J.R.R. Tolkien wrote it. You like it.', 'J.R.R. Tolkien wrote it.'],
    ['John F. Kennedy. You said so.', 'John F. Kennedy.'],
    ['You live on Baker St. You like it.', 'You live on Baker St.'],
    ['Your blood type is B. You should know.', 'Your blood type is B.'],
    ['You live in the U.S. You moved there.', 'You live in the U.S.'],
    ['You work for the U.S. Army. It is big.', 'You work for the U.S. Army.'],
    // Abbreviations inside.
    ['Some fruit, e.g. Apples, i.e. red ones. Yes.', 'Some fruit, e.g. Apples, i.e. red ones.'],
    ['Apples, pears, etc. are fruit. Yes.', 'Apples, pears, etc. are fruit.'],
    ['Apples, pears, etc. You like them.', 'Apples, pears, etc.'],
    ['It is room no. 5 of Acme Inc. in Lyon. Yes.', 'It is room no. 5 of Acme Inc. in Lyon.'],
    ['On Jan. 5 we met. Good.', 'On Jan. 5 we met.'],
    // Times of day.
    ['At 9 a.m. on Monday. Be there.', 'At 9 a.m. on Monday.'],
    ['At 9 a.m. Monday in Lyon. Be there.', 'At 9 a.m. Monday in Lyon.'],
    ['At 9 p.m. CET in Lyon. Be there.', 'At 9 p.m. CET in Lyon.'],
    ['At 9 a.m. Do not be late.', 'At 9 a.m.'],
    // Numbers, addresses, names of files.
    ['It costs 4.5 euros. Cheap.', 'It costs 4.5 euros.'],
    ['It costs $4.50. Cheap.', 'It costs $4.50.'],
    ['Ask at example.com or read notes.txt. Yes.', 'Ask at example.com or read notes.txt.'],
    ['You use Node.js. It is fine.', 'You use Node.js.'],
    ['1. Lyon is the city. 2. Paris', '1. Lyon is the city.'],
    ['1. Lyon.\n2. Oslo.', '1. Lyon.'],
    ['You like:\n1. Lyon.\n2. Oslo.', 'You like:\n1. Lyon.'],
    ['12. You have many.', '12.'],
    // Points that go on.
    ['Well... it is Lyon. Yes.', 'Well... it is Lyon.'],
    ['Well… Lyon it is. Yes.', 'Well… Lyon it is.'],
    ['Well… You live in Lyon.', 'Well…'],
    ['... Lyon. Oslo.', '... Lyon.'],
    // Chinese.
    ['您的牙医是杜波依斯医生。他在里昂。', '您的牙医是杜波依斯医生。'],
    ['他说：“是里昂。”然后走了。', '他说：“是里昂。”'],
    ['是里昂！！真的吗？', '是里昂！！'],
    ['我想……是里昂。对。', '我想……是里昂。'],
    ['价格是4.5元。便宜。', '价格是4.5元。'],
    ['杜波依斯 Dr. Dubois。对。', '杜波依斯 Dr. Dubois。'],
    // One sentence, or none.
    ['In Lyon.', 'In Lyon.'],
    [' In Lyon ', 'In Lyon'],
    ['At 9 a.m.', 'At 9 a.m.'],
    ['Dr. Dubois', 'Dr. Dubois'],
    ['...', '...'],
    ['?!', '?!'],
    ['', ''],
    [' \n ', ''],
  ])('of %j is %j', (text, sentence) => {
    expect(firstSentence(text)).toBe(sentence);
  });

  it('of an unfinished text ends only once later text proves it', () => {
    const over = (...texts: readonly string[]) => texts.filter((text) => sentenceEnd(text) !== undefined);
    expect(over('In Lyon.', 'In Lyon. ', '里昂。', '里昂。”', '里昂。”他')).toEqual(['In Lyon. ', '里昂。”他']);
    const morning = ['9 a.m. ', '9 a.m. M', '9 a.m. Mo', '9 a.m. Monday ', '9 a.m. You ', '9 a.m. on '];
    expect(over(...morning)).toEqual(['9 a.m. You ']);
  });

  it('is followed by others, which are counted', () => {
    const text = 'You hiked. Then you swam. Then you slept.';
    expect(firstSentence(text, 2)).toBe('You hiked. Then you swam.');
    expect(firstSentence(text, 9)).toBe(text);
    expect([text, 'Dr. Dubois', 'Lyon.', '', '!'].map(countSentences)).toEqual([3, 1, 1, 1, 1]);
  });

  it('of the first sentence is that sentence', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab .!?\n。DrA3:"') }), (text) => {
        const first = firstSentence(text);
        expect(text).toContain(first);
        expect(firstSentence(first)).toBe(first);
      }),
    );
  });

  it('does not end after a courtesy that opens it', () => {
    const texts = [
      'Sure! In Lyon. Yes.',
      "I'm sorry. It is Rex. Yes.",
      'Hi Ann! Of course. Rex. Yes.',
      '好的！在里昂。是的。',
    ];
    expect(texts.map((text) => firstSentence(text))).toEqual(
      texts.map((text) => text.replace(/ ?(?:Yes\.|是的。)$/u, '')),
    );
    expect(['Sure!', 'Sure! ', '好的。'].map((text) => sentenceEnd(text))).toEqual([undefined, undefined, undefined]);
  });

  it('ends at the same place however much text has arrived', () => {
    const unit = fc.constantFrom(
      'Dr',
      'a.m',
      'Lyon',
      'Sure',
      '好的',
      'J',
      '。',
      '.',
      ' ',
      '"',
      'You',
      '5',
      '里',
      '…',
      'etc',
      '!',
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 14 }), (text) => {
        const ends = Array.from({ length: text.length }, (_, index) => sentenceEnd(text.slice(0, index + 1)));
        const first = ends.findIndex((end) => end !== undefined);
        if (first !== -1) expect(new Set(ends.slice(first))).toEqual(new Set([ends[first]]));
      }),
      { numRuns: 2000 },
    );
  });
});
