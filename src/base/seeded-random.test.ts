import { expect, test } from 'vitest';
import { SeededRandom } from './seeded-random.ts';

const firsts = (draw: (seed: number) => number): number[] => Array.from({ length: 400 }, (_, seed) => draw(seed));

test('the first numbers of small seeds are spread over the whole range', () => {
  const numbers = firsts((seed) => new SeededRandom(seed).float());
  const tenths = Array.from(
    { length: 10 },
    (_, tenth) => numbers.filter((one) => Math.floor(one * 10) === tenth).length,
  );
  for (const count of tenths) expect(count).toBeGreaterThan(20);
  expect(firsts((seed) => new SeededRandom(seed).int(0, 9)).filter((one) => one === 3).length).toBeGreaterThan(20);
});

test('ofPublished keeps the sequences of published texts, whose first numbers hardly differ between seeds', () => {
  const numbers = firsts((seed) => SeededRandom.ofPublished(seed).float());
  expect(Math.max(...numbers) - Math.min(...numbers)).toBeLessThan(0.01);
});

test('one seed gives one sequence, and no other seed the same', () => {
  const sequence = (seed: number): number[] => {
    const random = new SeededRandom(seed);
    return Array.from({ length: 4 }, () => random.bits());
  };
  expect(sequence(7)).toEqual(sequence(7));
  expect(new Set(firsts((seed) => sequence(seed)[0]!)).size).toBe(400);
  for (const bits of sequence(7)) expect(bits | 0).toBe(bits);
});

test('elements in random order are those of the list, each once, in the order of a shuffle from its end', () => {
  const list = ['a', undefined, 'c', 'd', 'e'];
  for (const seed of [1, 2, 3]) {
    const drawn = [...new SeededRandom(seed).inRandomOrder(list)];
    expect(drawn.toReversed()).toEqual(new SeededRandom(seed).shuffled(list));
  }
  const second = firsts((seed) => [...new SeededRandom(seed).inRandomOrder([0, 1, 2, 3])][1]!);
  for (const element of [0, 1, 2, 3]) expect(second.filter((one) => one === element).length).toBeGreaterThan(70);
  expect([...new SeededRandom(7).inRandomOrder([])]).toEqual([]);
});
