import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { folderOfEachTest } from '../../../test/fixtures/folder-of-each-test.ts';
import type { TokenIds } from '../token-id.ts';
import { probeExactPromptCuts } from './probe-exact-prompt-cuts.ts';

const folder = folderOfEachTest();

/** A sequence that rounds the last `length mod group` tokens of each call otherwise, as kernels of grouped rows do. */
function sequenceOfGroups(group: number) {
  const cells: number[] = [];
  const add = (tokens: TokenIds): void => {
    const grouped = Math.floor(tokens.length / group) * group;
    tokens.forEach((token, index) => cells.push(token + (index < grouped ? 0 : 0.001)));
  };
  return {
    truncate: async () => void (cells.length = 0),
    prefill: async (tokens: TokenIds) => add(tokens),
    probabilities: async (tokens: TokenIds) => {
      add(tokens);
      return [new Map([[1, cells.reduce((sum, cell) => sum * 0.9 + cell, 0)]])];
    },
    save: async (path: string) => {
      writeFileSync(path, JSON.stringify(cells));
      return 0;
    },
  };
}

const sizes = { vocabularySize: 1000, windowTokens: 2048, isLong: false };
const testCuts = (sequence: ReturnType<typeof sequenceOfGroups>, changed: Partial<typeof sizes> = {}) =>
  probeExactPromptCuts(sequence, { ...sizes, ...changed, statePath: folder.file('state') }, {});

test.each([
  [1, 1],
  [4, 4],
  [8, 8],
  [16, 16],
  [32, 32],
  [5, null],
])('kernels that take %i rows together allow cuts at multiples of %s', async (group, expected) => {
  expect(await testCuts(sequenceOfGroups(group))).toBe(expected);
});

test('a difference that does not reach the last token is detected in the keys and values', async () => {
  const sequence = sequenceOfGroups(4);
  const hiding = async (tokens: TokenIds) => {
    await sequence.probabilities(tokens);
    return [new Map([[1, 0.5]])];
  };
  expect(await testCuts({ ...sequence, probabilities: hiding })).toBe(4);
});

test('a device that is not deterministic has no exact cut', async () => {
  let runs = 0;
  const sequence = { ...sequenceOfGroups(1), probabilities: async () => [new Map([[1, runs++]])] };
  expect(await testCuts(sequence)).toBeNull();
});

test('a kernel that differs above the batch size is detected by a long prompt', async () => {
  expect(await testCuts(sequenceOfGroups(64), { isLong: true })).toBeNull();
});

test('a window that is too short for the larger multiples tests the smaller ones', async () => {
  expect(await testCuts(sequenceOfGroups(4), { windowTokens: 8 })).toBe(4);
  expect(await testCuts(sequenceOfGroups(16), { windowTokens: 8 })).toBe(1);
});
