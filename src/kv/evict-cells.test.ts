import { describe, expect, it } from 'vitest';
import { copyOf } from '../../test/fixtures/moved-cells.ts';
import { keysOfCell, plainState, smallLayout, valuesOfCell } from '../../test/fixtures/plain-states.ts';
import type { SequenceState } from '../engine/sequence-state.ts';
import { evictionRules } from '../store/records/prefill-record.ts';
import { evictCells } from './evict-cells.ts';

const ids = [1, 5, 6, 20, 21, 22, 23, 24, 30];
const start = 40;

/** Of each cell and head in one layer, the tokens of the whole state whose keys and values stand there. */
function tokensIn(left: SequenceState, whole: SequenceState, layer: number): number[][][] {
  const { heads, headDimension } = left.layout;
  const of = (state: SequenceState, cell: number, head: number): string => {
    const values = valuesOfCell(state, layer, cell).slice(head * headDimension, (head + 1) * headDimension);
    return JSON.stringify([keysOfCell(state, layer, cell)[head], values]);
  };
  return Array.from(left.positions, (_, cell) =>
    Array.from({ length: heads }, (__, head) =>
      ids.map((___, token) => token).filter((token) => of(whole, token, head) === of(left, cell, head)),
    ),
  );
}

describe.each([true, false])('with values transposed: %s', (valuesTransposed) => {
  const layout = { ...smallLayout, valuesTransposed };
  const whole = plainState(layout, ids, { start });

  it.each(evictionRules)('%s packs as many tokens of each head, in their order, keys with their values', (by) => {
    const left = evictCells(
      whole,
      { by, ratio: 0.5 },
      Float64Array.from(ids, (id) => id % 7),
    );
    expect(left.positions).toHaveLength(4);
    const latest = [-1, -1, -1, -1];
    for (let layer = 0; layer < layout.layers; layer++) {
      const tokens = tokensIn(left, whole, layer);
      for (let head = 0; head < layout.heads; head++) {
        const kept = tokens.map((byHead) => byHead[head]![0]!);
        expect(tokens.every((byHead) => byHead[head]!.length === 1)).toBe(true);
        expect(kept).toEqual([...new Set(kept)].sort((a, b) => a - b));
        kept.forEach((token, cell) => (latest[cell] = Math.max(latest[cell]!, token)));
      }
    }
    latest[3] = ids.length - 1;
    expect([...left.positions]).toEqual(latest.map((token) => start + token));
  });

  it('a ratio of 0 copies the state byte for byte', () => {
    expect(copyOf(evictCells(whole, { by: 'knorm', ratio: 0 }))).toEqual(copyOf(whole));
  });
});

const whole = plainState(smallLayout, ids, { start });

it('a cell whose heads keep different tokens has no token id', () => {
  const left = evictCells(whole, { by: 'knorm', ratio: 0.5 });
  const heads = [0, 1].flatMap((layer) => [0, 1].map((head) => tokensIn(left, whole, layer).map((at) => at[head]![0])));
  expect(new Set(heads.map((kept) => kept.join())).size).toBeGreaterThan(1);
  expect([...left.tokenIds]).toContain(-1);
});

it('a cell whose heads all keep the same token has its id and position', () => {
  const left = evictCells(whole, { by: 'streaming', ratio: 0.75 });
  expect([...left.tokenIds]).toEqual([24, 30]);
  expect([...left.positions]).toEqual([start + 7, start + 8]);
});

it('random keeps the same tokens of the same text, others of another, and of a smaller ratio those and more', () => {
  const kept = (state: SequenceState, ratio: number) => {
    const left = evictCells(state, { by: 'random', ratio });
    return [0, 1].map((head) => tokensIn(left, state, 1).map((byHead) => byHead[head]![0]!));
  };
  expect(kept(whole, 0.5)).toEqual(kept(plainState(smallLayout, ids, { start: 7, seed: 0 }), 0.5));
  expect(kept(whole, 0.5)).not.toEqual(kept(plainState(smallLayout, [...ids.slice(1), 99], { start }), 0.5));
  kept(whole, 0.75).forEach((fewer, head) => expect(kept(whole, 0.25)[head]).toEqual(expect.arrayContaining(fewer)));
});
