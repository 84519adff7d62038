import { expect, it } from 'vitest';
import { timeOrderedId } from './memory-repository.ts';

it('is a UUID of version 7 that holds its time', () => {
  const id = timeOrderedId(Date.UTC(2100, 0, 1));
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(id.slice(0, 13).replace('-', ''), 16)).toBe(Date.UTC(2100, 0, 1));
});

it('sorts after all before it, within a millisecond and when the clock steps back', () => {
  const ids = Array.from({ length: 5000 }, (_, index) => timeOrderedId(4e12 - Math.floor(index / 1000)));
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(5000);
});
