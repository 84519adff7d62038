import { expect, test } from 'vitest';
import { payback } from './break-even.ts';

/** Ten users of two items each, about a mean, so far apart. */
const about = (mean: number, spread: number) =>
  Array.from({ length: 20 }, (_, index) => ({ userId: `u${index % 10}`, value: mean + spread * ((index % 10) - 4.5) }));

test('pays once the savings of later turns have paid for the first, and never where they save nothing', () => {
  expect(payback(about(10, 0), about(-5, 0))).toEqual({ turn: 3, low: 3, high: 3 });
  expect(payback(about(11, 0), about(-5, 0)).turn).toBe(4);
  expect(payback(about(0, 0), about(1, 0)).turn).toBe(1);
  expect(payback(about(10, 0), about(0, 0))).toEqual({ turn: null, low: null, high: null });
});

test('its interval widens as users differ, up to never if they may save nothing', () => {
  const some = payback(about(9.99, 1.5), about(-5, 1));
  expect(some.turn).toBe(3);
  expect(some.low).toBeLessThan(3);
  expect(some.high).toBeGreaterThan(3);
  expect(payback(about(9.99, 0.5), about(-5, 5))).toMatchObject({ turn: 3, high: null });
});

test('a cost and a saving of the same users cancel what these share', () => {
  // A user whose first turn costs two more saves one more in each later turn: all pay at turn 3.
  const cost = about(9.99, 2);
  expect(payback(cost, about(-5, -1))).toEqual({ turn: 3, low: 3, high: 3 });
  expect(payback(cost, about(-5, 1)).high).toBeGreaterThan(3);
});

test('with one user, items are the units', () => {
  const alone = (mean: number, spread: number) => about(mean, spread).map(({ value }) => ({ userId: 'u', value }));
  const { low, high } = payback(alone(10, 0.5), alone(-5, 0.4));
  expect(low).toBeLessThanOrEqual(3);
  expect(high).toBeGreaterThan(3);
});
