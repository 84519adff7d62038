import { expect, test } from 'vitest';
import { designEffect, effectiveItems } from './design-effect.ts';

const items = (users: readonly (readonly number[])[]) =>
  users.flatMap((values, user) => values.map((value) => ({ userId: `u${user}`, value })));

test('follows the analysis of variance by hand', () => {
  // Between 0.5 ÷ 1, within 1 ÷ 6, so ICC = (1/2 − 1/6) ÷ (1/2 + 3/6) = 1/3 and 1 + 3 · 1/3 = 2.
  const sample = items([
    [1, 1, 0, 0],
    [1, 1, 1, 1],
  ]);
  expect(designEffect(sample)).toBeCloseTo(2, 12);
  expect(effectiveItems(sample)).toBeCloseTo(4, 12);
});

test('is the size of the users where they agree within and differ between, and 1 where they do not differ', () => {
  expect(
    designEffect(
      items([
        [1, 1, 1],
        [0, 0, 0],
        [1, 1, 1],
      ]),
    ),
  ).toBeCloseTo(3, 12);
  expect(
    designEffect(
      items([
        [1, 0],
        [0, 1],
        [1, 0],
      ]),
    ),
  ).toBe(1);
});

test('takes the worst case where nothing can be estimated', () => {
  expect(
    effectiveItems(
      items([
        [1, 1, 1],
        [1, 1, 1],
      ]),
    ),
  ).toBe(2);
  expect(effectiveItems(items([[1, 0, 1]]))).toBe(1);
  expect(effectiveItems(items([[1], [0], [1]]))).toBe(3);
});
