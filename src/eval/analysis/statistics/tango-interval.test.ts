import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tangoInterval, tangoScore } from './paired-difference.ts';

const Z = 1.959963984540054;
const counts = fc
  .record({ wins: fc.nat(30), losses: fc.nat(30), ties: fc.integer({ min: 60, max: 200 }) })
  .map(({ wins, losses, ties }) => ({ wins, losses, pairs: wins + losses + ties }));

test('all ties leave z² ÷ (n + z²) either way', () => {
  const { low, high } = tangoInterval({ pairs: 100, wins: 0, losses: 0 }, Z);
  expect(high).toBeCloseTo(Z ** 2 / (100 + Z ** 2), 9);
  expect(low).toBeCloseTo(-high, 9);
});

test('its bounds are the differences whose score is z, and the other arm mirrors them', () => {
  fc.assert(
    fc.property(counts, (some) => {
      const { low, high } = tangoInterval(some, Z);
      expect(tangoScore(some, low)).toBeCloseTo(Z, 5);
      expect(tangoScore(some, high)).toBeCloseTo(-Z, 5);
      const mirrored = tangoInterval({ ...some, wins: some.losses, losses: some.wins }, Z);
      expect(mirrored.low).toBeCloseTo(-high, 9);
      expect(mirrored.high).toBeCloseTo(-low, 9);
    }),
  );
});

test('an impossible difference has an infinite score', () => {
  expect(tangoScore({ pairs: 40, wins: 0, losses: 2 }, -1.5)).toBe(Infinity);
});
