import { expect, test } from 'vitest';
import { ownedState, type SequenceState } from '../engine/sequence-state.ts';
import { meanAttention } from './mean-attention.ts';

/** Cells of one layer: the keys of each, of all heads. */
function cells(heads: number, ...keys: readonly (readonly number[])[]): SequenceState {
  const headDimension = keys[0]!.length / heads;
  const tensor = new Uint8Array(Float32Array.from(keys.flat()).buffer);
  return ownedState({
    layout: { layers: 1, heads, headDimension, keyType: 'F32', valueType: 'F32', valuesTransposed: false },
    positions: Int32Array.from(keys.keys()),
    tokenIds: new Int32Array(keys.length),
    keys: [new Uint8Array(4), tensor],
    values: [tensor],
  });
}

/** Of heads of four numbers the root is two. */
const ln = (share: number): readonly number[] => [2 * Math.log(share), 0, 0, 0];

test('is the softmax of products divided by √d', () => {
  const attention = meanAttention(cells(1, [1, 0, 0, 0]), cells(1, ln(1), ln(2), ln(5)));
  [1 / 8, 2 / 8, 5 / 8].forEach((share, cell) => expect(attention[cell]).toBeCloseTo(share, 6));
});

test('is averaged over tokens and heads, query heads of a group share a KV head in order', () => {
  const seen = cells(2, [...ln(1), ...ln(1)], [...ln(3), ...ln(1)]);
  // The first two query heads see that the second cell has three times the weight; two tokens, one of which asks nothing.
  const asking = cells(4, new Array(4).fill([1, 0, 0, 0]).flat(), new Array<number>(16).fill(0));
  const attention = meanAttention(asking, seen);
  expect(attention[1]).toBeCloseTo((2 * 0.75 + 2 * 0.5 + 4 * 0.5) / 8, 6);
  expect(attention[0]! + attention[1]!).toBeCloseTo(1, 12);
});

test('leaves out the first cells on request, and stays finite for large products', () => {
  const seen = cells(1, [9e3, 0, 0, 0], [4e3, 0, 0, 0], [4e3, 0, 0, 0]);
  expect([...meanAttention(cells(1, [1, 0, 0, 0]), seen, 1)]).toEqual([0.5, 0.5]);
});

test('heads that cannot be shared evenly are refused', () => {
  expect(() => meanAttention(cells(3, [1, 2, 3]), cells(2, [1, 2]))).toThrow(RangeError);
  expect(() => meanAttention(cells(1, [1, 2]), cells(1, [1]))).toThrow(RangeError);
});
