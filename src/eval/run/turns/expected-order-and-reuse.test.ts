import { expect, it } from 'vitest';
import { expectedPrefixReuse } from './expected-order-and-reuse.ts';

const arm = { name: 'rag-cached' };

it('finds the longest prefix shared with an earlier prompt of the arm, up to an exact cut, without the last tokens', () => {
  const prompts = expectedPrefixReuse({
    exactCuts: 2,
    leastTokens: 2,
    truncatesUpTo: null,
    slidingWindowTokens: null,
  });
  const shared = (...ids: number[]) => prompts.reusedTokens(arm, ids, 3);
  expect(shared(1, 2, 3, 4, 5, 6, 7)).toBe(0);
  expect(shared(1, 2, 3, 4, 5, 9, 9, 9)).toBe(4);
  // All of it is known: the last two are evaluated again.
  expect(shared(1, 2, 3, 4, 5, 6)).toBe(4);
  expect(shared(1, 9, 9, 9)).toBe(0);
  expect(prompts.reusedTokens({ name: 'other' }, [1, 2, 3, 4, 5, 6, 7], 3)).toBe(0);
  prompts.clear();
  expect(shared(1, 2, 3, 4, 5, 6, 7)).toBe(0);
});

it('finds a prompt that cannot be truncated only as a whole, up to its last memory', () => {
  const limits = { exactCuts: 1, leastTokens: 2, truncatesUpTo: 3, slidingWindowTokens: null } as const;
  const prompts = expectedPrefixReuse(limits);
  const shared = (prefixTokens: number, ...ids: number[]) => prompts.reusedTokens(arm, ids, prefixTokens);
  expect(shared(4, 1, 2, 3, 4, 8, 8)).toBe(0);
  expect(shared(4, 1, 2, 3, 9, 9, 9)).toBe(0);
  expect(shared(4, 1, 2, 3, 4, 7, 7)).toBe(4);
  // Three tokens can be truncated, and are stored whole.
  expect(shared(1, 5, 6, 7)).toBe(0);
  expect(shared(4, 5, 6, 8, 1, 1, 1)).toBe(2);
});

it('finds states beyond a sliding window only where all of their cells move by 64 positions', () => {
  const limits = { exactCuts: 1, leastTokens: 2, truncatesUpTo: 32, slidingWindowTokens: 32 } as const;
  const prompts = expectedPrefixReuse(limits);
  const prompt = (end: number) => [...Array(120).keys()].concat(end, end);
  expect(prompts.reusedTokens(arm, prompt(200), 118)).toBe(0);
  expect(prompts.reusedTokens(arm, prompt(300), 118)).toBe(96);
});
