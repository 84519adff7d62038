import { expect, it } from 'vitest';
import { breakEvenTurn } from './break-even.ts';

it('pays once the savings of later turns have paid for the build', () => {
  // 30 against 3 × 10: after the third turn both have taken 30 ms.
  expect(breakEvenTurn(20, 5, 10)).toBe(3);
  expect(breakEvenTurn(21, 5, 10)).toBe(4);
  expect(breakEvenTurn(10, 5, 10)).toBe(1);
});

it('never pays where finding takes as long as reading, unless building takes no longer', () => {
  expect(breakEvenTurn(20, 10, 10)).toBe(Infinity);
  expect(breakEvenTurn(9, 11, 10)).toBe(1);
});
