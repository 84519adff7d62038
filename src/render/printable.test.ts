import { expect, it } from 'vitest';
import { groupedNumber } from './printable.ts';

it('groups whole numbers by three', () => {
  expect([0, 12, 999, 1000, 123_456, 1_234_567].map(groupedNumber)).toEqual([
    ...['0', '12', '999', '1,000', '123,456', '1,234,567'],
  ]);
});
