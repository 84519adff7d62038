import { expect, test } from 'vitest';
import { readNumbers } from '../base/float16.ts';
import { ownedState, type SequenceState } from '../engine/sequence-state.ts';
import { repeatHeads } from './repeat-heads.ts';

/** Two cells of one layer with two heads of two numbers: cell, head and place are the digits of a number. */
function stateOf(valuesTransposed: boolean): SequenceState {
  const keys = [0, 1].flatMap((cell) => [0, 1].flatMap((head) => [0, 1].map((at) => 100 * cell + 10 * head + at)));
  const columns = [0, 1].flatMap((head) => [0, 1].flatMap((at) => [0, 1].map((cell) => 100 * cell + 10 * head + at)));
  const bytes = (numbers: readonly number[]): Uint8Array => new Uint8Array(Float32Array.from(numbers).buffer);
  return ownedState({
    layout: { layers: 1, heads: 2, headDimension: 2, keyType: 'F32', valueType: 'F32', valuesTransposed },
    positions: Int32Array.of(4, 5),
    tokenIds: Int32Array.of(40, 50),
    keys: [bytes(keys)],
    values: [bytes(valuesTransposed ? columns : keys)],
  });
}

test('repeats each head once per query head that shares it, in keys and in values of either order', () => {
  const byCell = [0, 1, 0, 1, 10, 11, 10, 11, 100, 101, 100, 101, 110, 111, 110, 111];
  const byHead = [0, 100, 1, 101, 0, 100, 1, 101, 10, 110, 11, 111, 10, 110, 11, 111];
  for (const [isTransposed, values] of [
    [false, byCell],
    [true, byHead],
  ] as const) {
    const state = repeatHeads(stateOf(isTransposed), 4);
    expect(state.layout).toMatchObject({ heads: 4, headDimension: 2, valuesTransposed: isTransposed });
    expect([[...state.positions], [...state.tokenIds]]).toEqual([
      [4, 5],
      [40, 50],
    ]);
    expect([...readNumbers(state.keys[0]!, 'F32')]).toEqual(byCell);
    expect([...readNumbers(state.values[0]!, 'F32')]).toEqual(values);
  }
});

test('the same number of heads gives the same state; other numbers must be multiples', () => {
  const state = stateOf(false);
  expect(repeatHeads(state, 2)).toMatchObject({ keys: state.keys, values: state.values });
  for (const heads of [0, 1, 3]) expect(() => repeatHeads(state, heads)).toThrow(RangeError);
});
