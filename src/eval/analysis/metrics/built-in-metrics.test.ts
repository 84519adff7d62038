import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAbstention } from './abstention.ts';
import { editDistance } from '../../../base/edit-distance.ts';

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
  expect(isAbstention('无法回答这个问题。', '我不知道。', 'zh')).toBe(true);
  expect(isAbstention('No memory of that.', 'No memory of that', 'en')).toBe(true);
});

test('edit distance: worked examples and the triangle inequality', () => {
  expect([editDistance('kitten', 'sitting'), editDistance('', 'abc'), editDistance('abc', '')]).toEqual([3, 3, 3]);
  fc.assert(
    fc.property(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), (a, b, c) => {
      expect(editDistance(a, c)).toBeLessThanOrEqual(editDistance(a, b) + editDistance(b, c));
      expect(editDistance(a, b)).toBe(editDistance(b, a));
      expect(editDistance(a, b) === 0).toBe(a === b);
    }),
  );
});
