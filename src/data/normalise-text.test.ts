import { expect, test } from 'vitest';
import { containsTokens, normalise, splitTokens } from './normalise-text.ts';

test.each([
  ['  The Quick, brown\tFox! ', 'quick brown fox'],
  ['TX-4500', 'tx4500'],
  ['a software engineer.', 'software engineer'],
  ['Ｂｒｅｎｋｏ', 'brenko'],
  ['theatre banana', 'theatre banana'],
  ['naïveté éa', 'naïveté éa'],
  ['The The', 'the the'],
  ['A.', 'a'],
  ['?!', '?!'],
])('English %j becomes %j', (text, normal) => {
  expect(normalise(text, 'en')).toBe(normal);
});

test('Chinese is cut into characters, other scripts into words', () => {
  expect(splitTokens('密码是：４８２１，房间 B12。', 'zh')).toEqual(['密', '码', '是', '4821', '房', '间', 'b12']);
  expect(splitTokens(' ', 'en')).toEqual([]);
});

test('a part is found as whole tokens only', () => {
  expect(containsTokens('My dog is called Brenko.', 'brenko', 'en')).toBe(true);
  expect(containsTokens('My dog is called Brenkovia.', 'Brenko', 'en')).toBe(false);
  expect(containsTokens('它叫布伦科。', '布伦科', 'zh')).toBe(true);
  expect(containsTokens('anything', '', 'en')).toBe(false);
});
