import { expect, it } from 'vitest';
import { generateTraffic, trafficSchema } from './traffic.ts';

const traffic = (given: object) => generateTraffic(trafficSchema.parse(given));
const idsOf = (given: object) => traffic(given).turns.map(({ segments }) => segments.map(({ id }) => id));
const DAY_MS = 86_400_000;

it('is the same for the same seed, ordered by time, at the given rate', () => {
  const given = { users: 20, turns: 5000, turnsPerDay: 25, seed: 3 };
  const { turns } = traffic(given);
  expect(traffic(given).turns).toEqual(turns);
  expect(traffic({ ...given, seed: 4 }).turns).not.toEqual(turns);
  expect(turns).toEqual(turns.toSorted((a, b) => a.atMs - b.atMs));
  expect(turns[0]!.atMs).toBe(0);
  expect(turns.at(-1)!.atMs / DAY_MS).toBeCloseTo(10, -0.5);
  expect(new Set(turns.map(({ userId }) => userId)).size).toBe(20);
  const sizes = [...Map.groupBy(turns, ({ conversationId }) => conversationId).values()].map(({ length }) => length);
  expect(new Set(sizes)).toEqual(new Set([5]));
});

it("retrieves distinct memories by Zipf's law", () => {
  const memories = 8;
  const drawn = idsOf({ users: 1, memories, retrieved: 1, zipf: 1, turns: 20_000 }).flat();
  const shares = [...Map.groupBy(drawn, (id) => id).values()].map(({ length }) => length / drawn.length);
  const harmonic = Array.from({ length: memories }, (_, rank) => 1 / (rank + 1)).reduce((sum, one) => sum + one);
  shares.sort((a, b) => b - a).forEach((share, rank) => expect(share).toBeCloseTo(1 / (rank + 1) / harmonic, 1.5));

  const all = idsOf({ memories, retrieved: memories, zipf: 4, turns: 300 });
  expect(new Set(all.map((ids) => new Set(ids).size))).toEqual(new Set([memories]));
});

it('orders memories as drawn, or always in the same order', () => {
  const pairs = (order: string) =>
    new Set(idsOf({ users: 1, memories: 2, retrieved: 2, turns: 50, order }).map(String));
  expect(pairs('rank')).toEqual(new Set(['m0,m1', 'm1,m0']));
  expect(pairs('stable')).toEqual(new Set(['m0,m1']));
});

it('gives an edited memory a new id, at the given share per day', () => {
  const given = { users: 1, memories: 10, retrieved: 10, turns: 4000, turnsPerDay: 100 };
  const ids = (edited: number) => new Set(idsOf({ ...given, edited }).flat()).size;
  expect(ids(0)).toBe(10);
  // 40 days of 2 edits each, besides the first texts.
  expect(ids(0.2)).toBeGreaterThan(70);
  expect(ids(0.2)).toBeLessThan(110);
});

it('moves popularity to other memories by drift', () => {
  const popular = (drift: number): number => {
    const drawn = idsOf({ users: 1, memories: 50, retrieved: 1, zipf: 3, turns: 2000, turnsPerDay: 50, drift }).flat();
    return Math.max(...[...Map.groupBy(drawn, (id) => id).values()].map(({ length }) => length / drawn.length));
  };
  expect(popular(0)).toBeGreaterThan(0.75);
  expect(popular(0.5)).toBeLessThan(0.4);
});

it('refuses to retrieve more memories than there are', () => {
  expect(() => trafficSchema.parse({ memories: 3, retrieved: 4 })).toThrow('at most as many memories as a user has');
});
