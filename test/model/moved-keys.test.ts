import { expect, test } from 'vitest';
import { adapterNamed } from '../../src/engine/adapters.ts';
import type { Rotary, SequenceState } from '../../src/engine/sequence-state.ts';
import { cutCells } from '../../src/kv/cut-cells.ts';
import { keyRotation } from '../../src/kv/rope-shift.ts';
import { numbersOf } from '../fixtures/plain-states.ts';
import { rotatedKeys } from '../fixtures/rotated-keys.ts';

const LINE = Array.from({ length: 9 }, (_, index) => 30 + 7 * index);
const DISTANCE = 150;

// In the first layer a key depends on its token and its position alone.
test.each(['tiny-llama', 'tiny-llama-rope-freqs', 'tiny-qwen2', 'tiny-qwen3'])(
  'random:%s: keys of the first layer that were moved are those that llama.cpp computes there',
  async (shape) => {
    const opener = adapterNamed('llama-cpp').opener({});
    await using engine = await opener.open({ model: `random:${shape}`, contextTokens: 256 });
    await using session = await engine.openSession('test');
    const cellsOf = async (tokens: readonly number[]): Promise<SequenceState> => {
      await session.clear();
      await session.evaluate(tokens);
      using state = await session.exportCells();
      return cutCells(state, tokens.length - LINE.length, tokens.length);
    };
    const near = (await cellsOf(LINE)).keys[0]!;
    const far = (await cellsOf([...new Array<number>(DISTANCE).fill(40), ...LINE])).keys[0]!;
    const { layout, rotary } = engine.capabilities.cells!;
    expect(rotary.pairing).toBe(shape.startsWith('tiny-llama') ? 'norm' : 'neox');
    const error = (by: Rotary, distance: number): number =>
      largestError(rotatedKeys(near, keyRotation(by, layout, distance)), far);
    // Three roundings: before, after, and llama.cpp's own.
    expect(error(rotary, DISTANCE)).toBeLessThan(2 ** -9);
    const otherPairing = rotary.pairing === 'norm' ? 'neox' : 'norm';
    const wrong: Rotary[] = [{ ...rotary, pairing: otherPairing }];
    if (rotary.factors !== null) wrong.push({ ...rotary, factors: null });
    expect(wrong).toHaveLength(shape.endsWith('freqs') ? 2 : 1);
    for (const by of wrong) expect(error(by, DISTANCE)).toBeGreaterThan(2 ** -4);
    expect(error(rotary, DISTANCE + 1)).toBeGreaterThan(2 ** -4);
  },
);

/** The largest difference, over the largest key. */
function largestError(keys: Uint8Array, expected: Uint8Array): number {
  const [got, want] = [numbersOf(keys, 'F16'), numbersOf(expected, 'F16')];
  const largest = (numbers: readonly number[]): number => numbers.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  return largest(got.map((x, index) => x - want[index]!)) / largest(want);
}
