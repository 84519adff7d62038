import { expect, test } from 'vitest';
import { scattered } from '../../test/fixtures/plain-keys.ts';
import { FreeRanges } from './wasm-arena.ts';

test('takes the first range that is large enough', () => {
  const free = new FreeRanges();
  expect(free.take(1)).toBeUndefined();
  free.give(100, 10);
  free.give(0, 5);
  free.give(200, 20);
  expect([6, 5, 15, 6, 5].map((size) => free.take(size))).toEqual([100, 0, 200, undefined, 215]);
});

test('merges neighbouring free ranges, in any order of return', () => {
  for (const order of ['0 10 20', '20 10 0', '0 20 10']) {
    const free = new FreeRanges();
    order
      .split(' ')
      .map(Number)
      .forEach((address) => free.give(address, 10));
    expect([free.take(30), free.take(1)]).toEqual([0, undefined]);
  }
});

test('never hands out a taken range, and has all memory back in the end', () => {
  const free = new FreeRanges();
  free.give(0, 1000);
  const owner = new Array<number>(1000).fill(-1);
  const taken: { address: number; size: number }[] = [];
  for (let step = 0; step < 2000; step++) {
    if (scattered(2 * step) < 0.55) {
      const size = 1 + Math.floor(scattered(2 * step + 1) * 90);
      const address = free.take(size);
      if (address === undefined) continue;
      expect(owner.slice(address, address + size).every((before) => before === -1)).toBe(true);
      owner.fill(step, address, address + size);
      taken.push({ address, size });
    } else if (taken.length > 0) {
      const [{ address, size }] = taken.splice(Math.floor(scattered(2 * step + 1) * taken.length), 1) as [
        { address: number; size: number },
      ];
      free.give(address, size);
      owner.fill(-1, address, address + size);
    }
  }
  expect(taken.length).toBeGreaterThan(3);
  taken.forEach(({ address, size }) => free.give(address, size));
  expect(free.take(1000)).toBe(0);
});
