import { describe, expect, it } from 'vitest';
import {
  leavesChoice,
  type SelectableBlock,
  selectTokensToRecompute,
  type TokenSelection,
} from './select-tokens-to-recompute.ts';

/** Blocks of 4, 10, 3 and 6 tokens; the last was retrieved best, then the second, the first, the third. */
const blocks: readonly SelectableBlock[] = [
  { tokenIds: [1, 2, 3, 4], rank: 2 },
  { tokenIds: [11, 12, 13, 14, 15, 16, 17, 18, 19, 20], rank: 1 },
  { tokenIds: [21, 22, 23], rank: 3 },
  { tokenIds: [31, 32, 33, 34, 35, 36], rank: 0 },
];
const shared = ['first', 'random', 'ranked', 'cacheblend-oracle', 'cacheblend', 'informative', 'ranked-informative'];
const rules = shared as ('first' | 'random' | 'ranked' | 'cacheblend')[];

/** Scores of all 23 tokens: 1, but for some. */
const scores = (others: Readonly<Record<number, number>>): number[] =>
  Array.from({ length: 23 }, (_, place) => others[place] ?? 1);
const ranges = (selection: TokenSelection, by?: readonly number[]): string =>
  selectTokensToRecompute(selection, blocks, by)
    .map(({ start, end }) => `${start}-${end}`)
    .join(' ');
const places = (selection: TokenSelection, of = blocks, by?: readonly number[]): number[] =>
  selectTokensToRecompute(selection, of, by).flatMap(({ start, end }) =>
    Array.from({ length: end - start }, (_, index) => start + index),
  );
/** The blocks with other tokens. */
const others = (distance: number): SelectableBlock[] =>
  blocks.map(({ tokenIds, rank }) => ({ tokenIds: Array.from(tokenIds, (id) => id + distance), rank }));

it.each<[TokenSelection, string]>([
  // The first block saw all that precedes it: nothing of it is selected.
  [{ by: 'link', tokens: 2 }, '4-6 14-16 17-19'],
  [{ by: 'link', tokens: 3 }, '4-7 14-20'],
  [{ by: 'link', tokens: 0 }, ''],
  [{ by: 'link', tokens: Infinity }, '4-23'],
  // A share is dealt to the blocks in turn, each from its beginning.
  [{ by: 'first', share: 0.3 }, '4-7 14-16 17-19'],
  [{ by: 'first', share: 0.6 }, '4-10 14-22'],
  // Whole blocks, the best retrieved first, until one does not fit.
  [{ by: 'ranked', share: 0.3 }, '17-23'],
  [{ by: 'ranked', share: 0.7 }, '4-14 17-23'],
  [{ by: 'ranked', share: 0.05 }, '17-23'],
  // Runs of four: 4 to 7, 8 to 11, 12 and 13; 14 to 16; 17 to 20, 21 and 22.
  [{ by: 'first', share: 0.35, run: 4 }, '4-8 14-17'],
  [{ by: 'first', share: 0.5, run: 4 }, '4-8 14-21'],
  [{ by: 'first', share: 0.02, run: 4 }, ''],
  [{ by: 'first', share: 0.05, run: 4 }, '4-8'],
])('%j selects %j', (selection, selected) => expect(ranges(selection)).toBe(selected));

describe('tokens of the highest scores', () => {
  it('are taken by score, then by position, none of the first block', () => {
    const by = scores({ 0: 9, 1: 9, 2: 9, 3: 9, 20: 8, 5: 7, 22: 6, 13: 5 });
    expect(ranges({ by: 'cacheblend-oracle', share: 0.1 }, by)).toBe('5-6 20-21');
    expect(ranges({ by: 'cacheblend-oracle', share: 0.25 }, by)).toBe('4-7 13-14 20-21 22-23');
  });

  it('come from the best block first, then from the next, if ranks come first', () => {
    // Behind the best block, 17 to 22, comes the second, 4 to 13.
    const by = scores({ 20: 5, 9: 5 });
    expect(ranges({ by: 'ranked-informative', share: 0.05 }, by)).toBe('20-21');
    expect(ranges({ by: 'ranked-informative', share: 0.13 }, by)).toBe('17-19 20-21');
    expect(ranges({ by: 'ranked-informative', share: 0.3 }, by)).toBe('9-10 17-23');
  });

  it('are the runs with the highest mean', () => {
    // The mean of the two tokens from 12 on is greater than that of the four from 8 on.
    expect(ranges({ by: 'cacheblend', share: 0.3, run: 4 }, scores({ 9: 8, 13: 8 }))).toBe('8-14');
  });
});

describe('a random share', () => {
  it('selects the same tokens for the same blocks, and for a larger share a superset', () => {
    const few = places({ by: 'random', share: 0.2 });
    const more = places({ by: 'random', share: 0.5 });
    expect([few.length, more.length]).toEqual([5, 12]);
    expect(more).toEqual(expect.arrayContaining(few));
    expect(Math.min(...more)).toBeGreaterThanOrEqual(4);
    expect(places({ by: 'random', share: 0.5 }, others(1))).not.toEqual(more);
  });

  it('reaches every token that may be selected about equally often', () => {
    const counts = new Array<number>(23).fill(0);
    for (let draw = 0; draw < 2000; draw++) {
      for (const place of places({ by: 'random', share: 0.3 }, others(40 * draw))) counts[place]!++;
    }
    // 7 of 19 tokens, 2,000 times: 737 each, standard deviation 22.
    expect(counts.slice(0, 4)).toEqual([0, 0, 0, 0]);
    for (const count of counts.slice(4)) expect(Math.abs(count - 737)).toBeLessThan(100);
  });

  it('is as large as that of another rule, with asMany', () => {
    const ranked = places({ by: 'ranked', share: 0.7 });
    const random = places({ by: 'random', share: 0.7, asMany: 'ranked' });
    expect(random).toHaveLength(ranked.length);
    expect(random).not.toEqual(ranked);
  });
});

it.each([2, 4, 16])('runs of %i take what fits, and a larger share those of a smaller', (run) => {
  const by = Array.from({ length: 23 }, (_, place) => (place * 7) % 23);
  for (const rule of ['first', 'random', 'cacheblend'] as const) {
    const taken = (share: number): number[] => places({ by: rule, share, run }, blocks, by);
    for (const share of [0.1, 0.3, 0.6]) {
      const budget = Math.round(share * 23);
      expect(taken(share).length).toBeLessThanOrEqual(Math.max(budget, run));
      expect(taken(share).length).toBeGreaterThan(budget - run);
      expect(taken(share + 0.1)).toEqual(expect.arrayContaining(taken(share)));
    }
    expect(taken(1)).toHaveLength(19);
    expect(taken(0)).toEqual([]);
  }
});

it('leaves a choice if a share is some, but not all, of the tokens after the first block', () => {
  const choices = [0, 0.02, 0.03, 0.8, 0.81, 1].map((share) => leavesChoice(share, blocks));
  expect(choices).toEqual([false, false, true, true, false, false]);
  expect(leavesChoice(0.5, blocks.slice(0, 1))).toBe(false);
  expect(leavesChoice(0.5, [])).toBe(false);
});

it.each(rules)('%s: 0 selects nothing, 1 all tokens after the first block, and one block no tokens', (by) => {
  expect(ranges({ by, share: 0 })).toBe('');
  expect(ranges({ by, share: 1 })).toBe('4-23');
  expect(selectTokensToRecompute({ by, share: 1 }, blocks.slice(0, 1))).toEqual([]);
  expect(selectTokensToRecompute({ by, share: 1 }, [])).toEqual([]);
});
