import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editDistance } from '../../../base/edit-distance.ts';

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
