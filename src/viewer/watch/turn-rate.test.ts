import { expect, test } from 'vitest';
import { turnRate } from './turn-rate.ts';

const now = 1_000_000;
/** Turns of items that end so many seconds before `now`, three arms each. */
const ended = (...seconds: readonly number[]) =>
  seconds.flatMap((ago) => [2, 1, 0].map((ms) => ({ itemId: `i${ago}`, createdAt: now - ago * 1000 - ms })));

test('counts the turns behind the first item, over the time that they took', () => {
  expect(turnRate(ended(30, 20, 10), now)).toBe(6 / 20);
});

test('leaves out what was written before the last five minutes', () => {
  expect(turnRate(ended(4000, 20, 10), now)).toBe(3 / 10);
});

test('says nothing of one item alone, or of none', () => {
  expect([turnRate(ended(10), now), turnRate(ended(4000, 2000), now), turnRate([], now)]).toEqual([null, null, null]);
});
