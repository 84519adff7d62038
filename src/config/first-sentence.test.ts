import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { countSentences, firstSentence, sentenceEnd } from './first-sentence.ts';

test.each([
  ['Your dentist is Dr. Dubois. You see her in May.', 'Your dentist is Dr. Dubois.'],
  ['Dr. Dubois', 'Dr. Dubois'],
  [' Lyon.\nUser: And yours?', 'Lyon.'],
  ['You live in Lyon\nUser: And', 'You live in Lyon'],
  ['According to your notes:\n\n- Lyon\n- Oslo', 'According to your notes:\n\n- Lyon'],
  ['1. Lyon', '1. Lyon'],
  ['1. Lyon.\n2. Oslo.', '1. Lyon.'],
  ['You paid 3.5 euros at 16.30 sharp. Then you left.', 'You paid 3.5 euros at 16.30 sharp.'],
  ['Your boss is J. K. Moreau. She is kind.', 'Your boss is J. K. Moreau.'],
  ['You wake at 6 a.m. You run.', 'You wake at 6 a.m.'],
  ['At 6 a.m. on Mondays. Yes.', 'At 6 a.m. on Mondays.'],
  ['You live on Baker St. You like it.', 'You live on Baker St.'],
  ['You ski in St. Moritz. Often.', 'You ski in St. Moritz.'],
  ['You like fruit, e.g. Mangos. Yes.', 'You like fruit, e.g. Mangos.'],
  ['Really? Lyon.', 'Really?'],
  ['He said "Lyon." Then he left.', 'He said "Lyon."'],
  ['**Lyon.** You moved there.', '**Lyon.**'],
  ['你住在都灵。你以前住在奥斯陆。', '你住在都灵。'],
  ['都灵！是的', '都灵！'],
  ['... Lyon. Oslo.', '... Lyon.'],
  ['', ''],
  ['?!', '?!'],
])('the first sentence of %j is %j', (text, first) => {
  expect(firstSentence(text)).toBe(first);
});

it('waits for what follows a full stop where more may come', () => {
  expect(sentenceEnd('It is Lyon.', false)).toBeNull();
  expect(sentenceEnd('It is Lyon. ', false)).toBe(11);
  expect(sentenceEnd('It is Lyon.')).toBe(11);
  expect(sentenceEnd('It is Dr.')).toBeNull();
  expect(sentenceEnd('It is Lyon')).toBeNull();
});

it('gives as many sentences as are asked for, and counts them', () => {
  const text = 'You hiked. Then you swam. Then you slept.';
  expect(firstSentence(text, 2)).toBe('You hiked. Then you swam.');
  expect(firstSentence(text, 9)).toBe(text);
  expect([text, 'Dr. Dubois', 'Lyon.', '', '!'].map(countSentences)).toEqual([3, 1, 1, 1, 1]);
});

it('never goes beyond the text, and finds the first sentence of the first sentence', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab .!?\n。DrA3:"') }), (text) => {
      const first = firstSentence(text);
      expect(text).toContain(first);
      expect(firstSentence(first)).toBe(first);
      const end = sentenceEnd(text);
      if (end !== null) expect(end).toBeGreaterThan(0);
    }),
  );
});
