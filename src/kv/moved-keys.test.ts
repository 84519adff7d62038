import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { decodeHalf } from '../../test/fixtures/plain-keys.ts';
import { turnedKeys } from '../../test/fixtures/turned-keys.ts';
import { LanguageModel } from '../llm/language-model.ts';
import { modelPathOf } from '../llm/random-model/random-model.ts';
import { keyRotation, type KeyShape } from './rotate-keys.ts';
import { type KvCells, parseSequenceState } from './sequence-state.ts';

const scratch = mkdtempSync(join(tmpdir(), 'dki-bench-moved-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const LINE = Array.from({ length: 9 }, (_, index) => 30 + 7 * index);
const DISTANCE = 150;

// In the first layer a key depends on its token and its position alone.
test.each(['tiny-llama', 'tiny-llama-rope-freqs', 'tiny-qwen2', 'tiny-qwen3'])(
  'random:%s: keys of the first layer that were moved are those that llama.cpp computes there',
  async (shape) => {
    await using model = await LanguageModel.load({
      modelPath: await modelPathOf(`random:${shape}`),
      contextTokens: 256,
    });
    await using sequence = model.openSequence();
    const path = join(scratch, shape);
    const cellsOf = async (tokens: readonly number[]): Promise<KvCells> => {
      await sequence.clear();
      await sequence.evaluate(tokens);
      await sequence.saveState(path);
      return parseSequenceState(readFileSync(path)).cells;
    };
    const near = (await cellsOf(LINE)).keys[0]!;
    const far = (await cellsOf([...new Array<number>(DISTANCE).fill(40), ...LINE])).keys[0]!.subarray(-near.length);
    const { pairing, frequencyFactors } = model.info.rope;
    expect(pairing).toBe(shape.startsWith('tiny-llama') ? 'norm' : 'neox');
    const error = (keys: KeyShape, distance: number): number =>
      largestError(turnedKeys(near, keyRotation(keys, distance, 'F16')), far);
    // Three roundings: before, after, and llama.cpp's own.
    expect(error(model.info, DISTANCE)).toBeLessThan(2 ** -9);
    const otherPairing = pairing === 'norm' ? 'neox' : 'norm';
    const wrong: KeyShape[] = [{ ...model.info, rope: { ...model.info.rope, pairing: otherPairing } }];
    if (frequencyFactors !== undefined) {
      wrong.push({ ...model.info, rope: { ...model.info.rope, frequencyFactors: undefined } });
    }
    for (const keys of wrong) expect(error(keys, DISTANCE)).toBeGreaterThan(2 ** -4);
    expect(error(model.info, DISTANCE + 1)).toBeGreaterThan(2 ** -4);
  },
);

/** The largest difference, over the largest key. */
function largestError(keys: Uint8Array, expected: Uint8Array): number {
  const decode = (bytes: Uint8Array): number[] => Array.from(new Uint16Array(bytes.slice().buffer), decodeHalf);
  const [got, want] = [decode(keys), decode(expected)];
  const largest = (numbers: readonly number[]): number => numbers.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  return largest(got.map((x, index) => x - want[index]!)) / largest(want);
}
