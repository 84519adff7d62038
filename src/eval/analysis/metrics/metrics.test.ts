import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAbstention } from './abstention.ts';
import { editDistance } from '../../../base/edit-distance.ts';
import { exactMatch, memoryRecall, tokenF1 } from './text-overlap.ts';

test('exact match compares normal forms and takes the best gold', () => {
  expect(exactMatch(' brenko.', ['Brenko'], 'en')).toBe(1);
  expect(exactMatch('brenkos', ['Brenko'], 'en')).toBe(0);
  expect(exactMatch('a nurse', ['teacher', 'nurse'], 'en')).toBe(1);
  expect(exactMatch('', ['Brenko'], 'en')).toBe(0);
});

test('token F1 counts a repeated word once for each time the gold has it', () => {
  expect(tokenF1('under the blue table', ['under the table'], 'en')).toBeCloseTo(0.8, 12);
  expect(tokenF1('table table table', ['table'], 'en')).toBeCloseTo(0.5, 12);
  expect(tokenF1('它叫布伦科', ['布伦科'], 'zh')).toBeCloseTo(0.75, 12);
});

test('token F1 is symmetric, and 1 exactly where exact match can be', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      expect(tokenF1(a, [b], 'en')).toBe(tokenF1(b, [a], 'en'));
      if (exactMatch(a, [b], 'en') === 1) expect(tokenF1(a, [b], 'en')).toBe(1);
    }),
  );
});

test('memory recall finds the value in a sentence, not in a longer word', () => {
  expect(memoryRecall('I think your dog is called Port Dral, right?', ['Port Dral'], 'en')).toBe(1);
  expect(memoryRecall('Dral Port', ['Port Dral'], 'en')).toBe(0);
});

test.each([
  ["I don't know.", true],
  ['i don’t know', true],
  ["I don't know your dog's name.", true],
  ["I don't know, but maybe Brenko.", false],
  ["I don't know. Brenko.", false],
  ['Brenko.', false],
  ['', false],
])('abstention: %s is %s', (answer, abstains) => {
  expect(isAbstention(answer, "I don't know.", 'en')).toBe(abstains);
});

test('abstention in Chinese, and by the data set’s own words', () => {
  expect(isAbstention('我不知道。', '我不知道。', 'zh')).toBe(true);
  expect(isAbstention('无法回答这个问题。', '我不知道。', 'zh')).toBe(true);
  expect(isAbstention('No memory of that.', 'No memory of that', 'en')).toBe(true);
});

test('edit distance: worked examples and the triangle inequality', () => {
  expect(editDistance('kitten', 'sitting')).toBe(3);
  expect(editDistance('', 'abc')).toBe(3);
  expect(editDistance('abc', '')).toBe(3);
  fc.assert(
    fc.property(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), (a, b, c) => {
      expect(editDistance(a, c)).toBeLessThanOrEqual(editDistance(a, b) + editDistance(b, c));
      expect(editDistance(a, b)).toBe(editDistance(b, a));
      expect(editDistance(a, b) === 0).toBe(a === b);
    }),
  );
});
