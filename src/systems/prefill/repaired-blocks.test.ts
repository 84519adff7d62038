import { expect, it } from 'vitest';
import { parseRepair, repairedBlocks } from './repaired-blocks.ts';

const ranks = [3, 0, 4, 1, 2];

it('repairs the blocks of the best retrieved memories, at most all', () => {
  const repaired = (setting: string) => [...repairedBlocks(parseRepair(setting), ranks, [1, 2])].sort();
  expect([repaired('1'), repaired('2'), repaired('9')]).toEqual([[1], [1, 3], [0, 1, 2, 3, 4]]);
});

it('the random choice depends only on the question', () => {
  const drawn = Array.from({ length: 20 }, (_, question) => [
    ...repairedBlocks(parseRepair('2:random'), ranks, [7, question]),
  ]);
  expect(drawn.every((blocks) => blocks.length === 2)).toBe(true);
  expect([...repairedBlocks(parseRepair('2:random'), ranks, [7, 0])]).toEqual(drawn[0]);
  expect(new Set(drawn.flat())).toEqual(new Set([0, 1, 2, 3, 4]));
});
