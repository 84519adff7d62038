import { expect, test } from 'vitest';
import { containsTokens, normalise, tokensOf } from './normalise.ts';

test("English follows SQuAD's script", () => {
  expect(normalise('  The Quick, brown\tFox! ', 'en')).toBe('quick brown fox');
  expect(normalise('TX-4500', 'en')).toBe('tx4500');
  expect(normalise('a software engineer.', 'en')).toBe('software engineer');
  expect(normalise('Ｂｒｅｎｋｏ', 'en')).toBe('brenko');
});

test('words that only hold an article keep it', () => {
  expect(normalise('theatre banana', 'en')).toBe('theatre banana');
  expect(normalise('naïveté éa', 'en')).toBe('naïveté éa');
});

test('a step that would leave nothing is not taken', () => {
  expect(normalise('The The', 'en')).toBe('the the');
  expect(normalise('A.', 'en')).toBe('a');
  expect(normalise('?!', 'en')).toBe('?!');
  expect(tokensOf(' ', 'en')).toEqual([]);
});

test('Chinese is cut into characters, other scripts into words', () => {
  expect(tokensOf('密码是：４８２１，房间 B12。', 'zh')).toEqual(['密', '码', '是', '4821', '房', '间', 'b12']);
});

test('a part is found as whole tokens only', () => {
  expect(containsTokens('My dog is called Brenko.', 'brenko', 'en')).toBe(true);
  expect(containsTokens('My dog is called Brenkovia.', 'Brenko', 'en')).toBe(false);
  expect(containsTokens('它叫布伦科。', '布伦科', 'zh')).toBe(true);
  expect(containsTokens('anything', '', 'en')).toBe(false);
});
