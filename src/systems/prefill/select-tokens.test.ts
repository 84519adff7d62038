import { describe, expect, it } from 'vitest';
import { leavesChoice, type SelectableBlock, selectTokens, type TokenSelection } from './select-tokens.ts';

/** Blocks of 4, 10, 3 and 6 tokens; the last was retrieved best, then the second, the first, the third. */
const blocks: readonly SelectableBlock[] = [
  { tokenIds: [1, 2, 3, 4], rank: 2 },
  { tokenIds: [11, 12, 13, 14, 15, 16, 17, 18, 19, 20], rank: 1 },
  { tokenIds: [21, 22, 23], rank: 3 },
  { tokenIds: [31, 32, 33, 34, 35, 36], rank: 0 },
];
const rules = [
  'first',
  'random',
  'ranked',
  'cacheblend-oracle',
  'cacheblend',
  'informative',
  'ranked-informative',
] as const;
const ranges = (selection: TokenSelection): string =>
  selectTokens(selection, blocks)
    .map(({ start, end }) => `${start}-${end}`)
    .join(' ');
const places = (selection: TokenSelection): number[] =>
  selectTokens(selection, blocks).flatMap(({ start, end }) =>
    Array.from({ length: end - start }, (_, index) => start + index),
  );

it('selects the first tokens of every block but the first, which saw all that precedes it', () => {
  expect(ranges({ by: 'link', tokens: 2 })).toBe('4-6 14-16 17-19');
  expect(ranges({ by: 'link', tokens: 3 })).toBe('4-7 14-20');
  expect(ranges({ by: 'link', tokens: 0 })).toBe('');
  expect(ranges({ by: 'link', tokens: Infinity })).toBe('4-23');
});

describe('a share of the memory tokens', () => {
  it('is dealt to the blocks in turn, each from its beginning', () => {
    expect(ranges({ by: 'first', share: 0.3 })).toBe('4-7 14-16 17-19');
    expect(ranges({ by: 'first', share: 0.6 })).toBe('4-10 14-22');
  });

  it('is whole blocks, the best retrieved first, until one does not fit', () => {
    expect(ranges({ by: 'ranked', share: 0.3 })).toBe('17-23');
    expect(ranges({ by: 'ranked', share: 0.7 })).toBe('4-14 17-23');
    expect(ranges({ by: 'ranked', share: 0.05 })).toBe('17-23');
  });

  it("is the best block's tokens of the largest scores, then those of the next", () => {
    // Behind the best block, 17 to 22, comes the second, 4 to 13.
    const scores = Array.from({ length: 23 }, (_, at) => (at === 20 || at === 9 ? 5 : 1));
    const selected = (share: number): string =>
      selectTokens({ by: 'ranked-informative', share }, blocks, scores)
        .map(({ start, end }) => `${start}-${end}`)
        .join(' ');
    expect(selected(0.05)).toBe('20-21');
    expect(selected(0.13)).toBe('17-19 20-21');
    expect(selected(0.3)).toBe('9-10 17-23');
  });

  it('is drawn evenly: the same tokens for the same blocks, more of them for more', () => {
    const few = places({ by: 'random', share: 0.2 });
    const more = places({ by: 'random', share: 0.5 });
    expect([few.length, more.length]).toEqual([5, 12]);
    expect(more).toEqual(expect.arrayContaining(few));
    expect(Math.min(...more)).toBeGreaterThanOrEqual(4);
    const others = blocks.map(({ tokenIds, rank }) => ({ tokenIds: Array.from(tokenIds, (id) => id + 1), rank }));
    expect(selectTokens({ by: 'random', share: 0.5 }, others)).not.toEqual(
      selectTokens({ by: 'random', share: 0.5 }, blocks),
    );
  });

  it('drawn evenly reaches every token that may be selected about equally often', () => {
    const counts = new Array<number>(23).fill(0);
    for (let draw = 0; draw < 2000; draw++) {
      const drawn = blocks.map(({ tokenIds, rank }) => ({
        tokenIds: Array.from(tokenIds, (id) => id + 40 * draw),
        rank,
      }));
      for (const { start, end } of selectTokens({ by: 'random', share: 0.3 }, drawn)) {
        for (let place = start; place < end; place++) counts[place]!++;
      }
    }
    // 7 of 19 tokens, 2,000 times: 737 each, standard deviation 22.
    expect(counts.slice(0, 4)).toEqual([0, 0, 0, 0]);
    for (const count of counts.slice(4)) expect(Math.abs(count - 737)).toBeLessThan(100);
  });

  it('is drawn as large as another rule takes it', () => {
    const ranked = places({ by: 'ranked', share: 0.7 });
    const random = places({ by: 'random', share: 0.7, asMany: 'ranked' });
    expect(random).toHaveLength(ranked.length);
    expect(random).not.toEqual(ranked);
  });

  it('is the tokens of the largest scores where the rule measures them, of equal ones the earlier, none of the first block', () => {
    const scores = Float64Array.from({ length: 23 }, (_, place) => (place < 4 ? 9 : 0));
    for (const [rank, place] of [20, 5, 22, 13].entries()) scores[place] = 8 - rank;
    const measured = (share: number): string =>
      selectTokens({ by: 'cacheblend-oracle', share }, blocks, scores)
        .map(({ start, end }) => `${start}-${end}`)
        .join(' ');
    expect(measured(0.1)).toBe('5-6 20-21');
    expect(measured(0.25)).toBe('4-7 13-14 20-21 22-23');
  });

  it('in runs is whole runs of a block, the last of it perhaps shorter, until one does not fit', () => {
    // 4 to 7, 8 to 11, 12 and 13; 14 to 16; 17 to 20, 21 and 22.
    expect(ranges({ by: 'first', share: 0.35, run: 4 })).toBe('4-8 14-17');
    expect(ranges({ by: 'first', share: 0.5, run: 4 })).toBe('4-8 14-21');
    expect(ranges({ by: 'first', share: 0.02, run: 4 })).toBe('');
    expect(ranges({ by: 'first', share: 0.05, run: 4 })).toBe('4-8');
    const scores = Float64Array.from({ length: 23 }, (_, place) => (place === 9 || place === 13 ? 8 : 1));
    const measured = selectTokens({ by: 'cacheblend', share: 0.3, run: 4 }, blocks, scores);
    // The mean of the two tokens from 12 on is greater than that of the four from 8 on.
    expect(measured).toEqual([{ start: 8, end: 14 }]);
  });

  it.each([2, 4, 16])(
    'in runs of %i is as much as there is room for, and a larger one takes those of a smaller',
    (run) => {
      for (const by of ['first', 'random', 'cacheblend'] as const) {
        const scores = Float64Array.from({ length: 23 }, (_, place) => (place * 7) % 23);
        const taken = (share: number): readonly number[] =>
          selectTokens({ by, share, run }, blocks, scores).flatMap(({ start, end }) =>
            Array.from({ length: end - start }, (_, index) => start + index),
          );
        for (const share of [0.1, 0.3, 0.6]) {
          const budget = Math.round(share * 23);
          expect(taken(share).length).toBeLessThanOrEqual(Math.max(budget, run));
          expect(taken(share).length).toBeGreaterThan(budget - run);
          expect(taken(share + 0.1)).toEqual(expect.arrayContaining([...taken(share)]));
        }
        expect(taken(1)).toHaveLength(19);
        expect(taken(0)).toEqual([]);
      }
    },
  );

  it('leaves a choice where it is some of the tokens behind the first block, and not all of them', () => {
    expect([0, 0.02, 0.03, 0.8, 0.81, 1].map((share) => leavesChoice(share, blocks))).toEqual([
      ...[false, false, true],
      ...[true, false, false],
    ]);
    expect(leavesChoice(0.5, blocks.slice(0, 1))).toBe(false);
    expect(leavesChoice(0.5, [])).toBe(false);
  });

  it.each(rules)('of 0 is nothing, of 1 all behind the first block: %s', (by) => {
    expect(ranges({ by, share: 0 })).toBe('');
    expect(places({ by, share: 1 })).toEqual(Array.from({ length: 19 }, (_, index) => 4 + index));
  });
});

it('selects nothing where there is one block, or none', () => {
  for (const by of rules) {
    expect(selectTokens({ by, share: 1 }, blocks.slice(0, 1))).toEqual([]);
    expect(selectTokens({ by, share: 1 }, [])).toEqual([]);
  }
});
