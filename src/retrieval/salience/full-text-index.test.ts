import { afterEach, beforeEach, expect, test } from 'vitest';
import { FullTextIndex } from './full-text-index.ts';

let index: FullTextIndex;
beforeEach(() => {
  index = new FullTextIndex();
  const global = ['I like dark mode.', '我喜欢深色主题。', 'My cat is called Miso.'];
  const texts = [...global, '我的猫叫小米。', 'Miso soup, miso paste.'];
  index.add(texts.map((text, row) => ({ row, text, scope: row < 3 ? 'global' : 'project' })));
});
afterEach(() => index[Symbol.dispose]());

test('ranks by BM25: the rarer word, then the shorter text and the more frequent word', () => {
  expect(index.search('What is Miso called?', 5)).toEqual([2, 4]);
  expect(index.search('miso', 5)[0]).toBe(4);
  expect(index.search('miso', 1)).toHaveLength(1);
});

test('finds Chinese by one character, by a word, and by a part of a sentence', () => {
  expect(index.search('猫', 5)).toEqual([3]);
  expect(index.search('深色', 5)).toEqual([1]);
  expect(index.search('你喜欢什么主题？', 5)).toEqual([1]);
});

test.each([
  ['Hindi', 'मेरी बिल्ली का नाम मीसो है', 'बिल्ली'],
  ['Thai', 'แมว ของฉัน ชื่อ มิโซะ', 'ชื่อ'],
])('finds %s words, which have vowels as combining marks', (_, text, word) => {
  index.add([{ row: 9, text, scope: 'global' }]);
  expect(index.search(word, 5)).toEqual([9]);
});

test('searches one scope, whose name matches no text', () => {
  expect(index.search('miso', 5, 'global')).toEqual([2]);
  expect(index.search('miso', 5, 'project')).toEqual([4]);
  expect(index.search('global project', 5)).toEqual([]);
});

test('does not find a removed text', () => {
  index.remove(2);
  expect(index.search('cat', 5)).toEqual([]);
  expect(index.search('miso', 5)).toEqual([4]);
});

test.each([
  '"',
  '"miso" OR "',
  'miso NEAR(cat, 2)',
  'NEAR AND NOT OR miso',
  'mi* miso*',
  "'; DROP TABLE texts; -- miso",
  'terms : miso',
  'scope : global miso',
  '{scope} : "global" miso',
  '-miso +miso ^miso',
  '(((((((((miso',
  'miso\u0000',
  '\ud800 miso',
])('a hostile query is words: %j', (query) => {
  const found = index.search(query, 5);
  for (const row of found) expect([0, 1, 2, 3, 4]).toContain(row);
  if (query.includes('miso')) expect(found).toEqual(expect.arrayContaining([2, 4]));
  expect(index.search('miso', 5)).toEqual([4, 2]);
});

test('answers a query of a megabyte', () => {
  const words = Array.from({ length: 150_000 }, (_, i) => `w${i}`).join(' ');
  expect(index.search(`miso ${words}`, 5)).toEqual([4, 2]);
  expect(index.search('miso '.repeat(200_000), 5)).toEqual([4, 2]);
});

test('leaves out words that occur in too many rows, except the rarest', () => {
  const texts = Array.from({ length: 3_000 }, (_, i) => (i === 7 ? 'the needle of all' : 'the hay of all'));
  index.add(texts.map((text, i) => ({ row: 100 + i, text, scope: 'global' })));
  expect(index.search('the needle', 5)).toEqual([107]);
  expect(index.search('the', 5)).toHaveLength(5);
});
