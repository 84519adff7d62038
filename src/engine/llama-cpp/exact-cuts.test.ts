import { expect, test } from 'vitest';
import type { TokenIds } from '../token-id.ts';
import { testExactCuts } from './exact-cuts.ts';

/** A sequence that rounds the last `length mod group` tokens of each call otherwise, as kernels of grouped rows do. */
function sequenceOfGroups(group: number) {
  let sum = 0;
  const add = (tokens: TokenIds): void => {
    const grouped = Math.floor(tokens.length / group) * group;
    tokens.forEach((token, index) => (sum = sum * 0.9 + token + (index < grouped ? 0 : 0.001)));
  };
  return {
    truncate: async () => void (sum = 0),
    prefill: async (tokens: TokenIds) => add(tokens),
    probabilities: async (tokens: TokenIds) => {
      add(tokens);
      return [new Map([[1, sum]])];
    },
  };
}

const sizes = { vocabularySize: 1000, windowTokens: 2048, isLong: false };

test.each([
  [1, 1],
  [4, 4],
  [8, 8],
  [16, 16],
  [32, 32],
  [5, null],
])('kernels that take %i rows together allow cuts at multiples of %s', async (group, expected) => {
  expect(await testExactCuts(sequenceOfGroups(group), sizes, {})).toBe(expected);
});

test('a device that computes otherwise from run to run has no exact cut', async () => {
  let runs = 0;
  const sequence = { ...sequenceOfGroups(1), probabilities: async () => [new Map([[1, runs++]])] };
  expect(await testExactCuts(sequence, sizes, {})).toBeNull();
});

test('flash attention, which takes more than a batch in another way, is found by a long prompt', async () => {
  const sequence = sequenceOfGroups(64);
  expect(await testExactCuts(sequence, { ...sizes, isLong: true }, {})).toBeNull();
});

test('a window that is too short for the larger multiples tests the smaller ones', async () => {
  expect(await testExactCuts(sequenceOfGroups(4), { ...sizes, windowTokens: 8 }, {})).toBe(4);
  expect(await testExactCuts(sequenceOfGroups(16), { ...sizes, windowTokens: 8 }, {})).toBe(1);
});
