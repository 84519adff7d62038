import { mean, rootMeanSquare } from 'simple-statistics';
import { expect, it } from 'vitest';
import { SeededRandom } from '../../../base/seeded-random.ts';
import { selectTokensToRecompute } from '../../../systems/prefill/select-tokens-to-recompute.ts';
import { missedRun, wrongShare } from './recomputed-tokens-proof.ts';

const RUN = 4;
const BLOCK = { length: 12, blocks: 5 };

/** A selection by squared distances, as arms make it, and what proves it: its positions and all runs. */
function selection(seed: number) {
  const random = new SeededRandom(seed);
  const distances = Array.from({ length: BLOCK.length * BLOCK.blocks }, () => random.float() ** 4);
  const blocks = Array.from({ length: BLOCK.blocks }, (_, rank) => ({ tokenIds: Array(BLOCK.length).fill(1), rank }));
  const squares = distances.map((distance) => distance ** 2);
  const ranges = selectTokensToRecompute({ by: 'cacheblend', share: 0.3, run: RUN }, blocks, squares);
  const positions = distances.map((_, position) => position);
  const selected = new Set(ranges.flatMap(({ start, end }) => positions.slice(start, end)));
  const starts = positions.slice(BLOCK.length).filter((position) => position % RUN === 0);
  return { distances, selected, runs: starts.map((start) => positions.slice(start, start + RUN)) };
}

const seeds = Array.from({ length: 100 }, (_, seed) => seed);

it('accepts runs selected by mean square, even if mean distances rank them otherwise', () => {
  const missedBy = (runScore: (scores: readonly number[]) => number) =>
    seeds.filter((seed) => {
      const { distances, selected, runs } = selection(seed);
      return missedRun(runs, selected, { scores: distances, tolerance: 1e-9, runScore }) !== null;
    });
  expect(missedBy(rootMeanSquare)).toEqual([]);
  expect(missedBy(mean)).not.toEqual([]);
});

it('finds a run that was left out for one that scores less', () => {
  const scores = [0, 0, 5, 6, 1, 2, 9, 9];
  const runs = [2, 4, 6].map((start) => [start, start + 1]);
  const missedBy = (selected: readonly number[], tolerance = 0) =>
    missedRun(runs, new Set(selected), { scores, tolerance });
  expect(missedBy([2, 3, 6, 7])).toBeNull();
  expect(missedBy([4, 5, 6, 7])).toEqual({ position: 2, score: 5.5, least: 1.5 });
  expect(missedBy([4, 5, 6, 7], 4)).toBeNull();
});

it('compares the number of recomputed tokens with the rounded share, for every rule', () => {
  const lines = [10, 7, 8].map((length) => Array<number>(length).fill(1));
  const wrong = (selection: Parameters<typeof wrongShare>[0], tokens: number) =>
    wrongShare(selection, { lines }, [{ start: 12, end: 12 + tokens }]);
  // .3 of 25 tokens.
  expect([7, 8, 9].map((tokens) => wrong({ by: 'random', share: 0.3 }, tokens))).toEqual([
    '7 tokens were selected in place of 8',
    null,
    '9 tokens were selected in place of 8',
  ]);
  expect([wrong({ by: 'first', share: 1 }, 15), wrong({ by: 'first', share: 0 }, 1)]).toEqual([
    null,
    expect.any(String),
  ]);
  expect([0, 7, 15].map((tokens) => wrong({ by: 'ranked', share: 0.3 }, tokens) === null)).toEqual([
    false,
    true,
    false,
  ]);
  expect([7, 8].map((tokens) => wrong({ by: 'link', tokens: 4 }, tokens) === null)).toEqual([false, true]);
});
