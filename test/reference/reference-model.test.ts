import { describe, expect, test } from 'vitest';
import { llamaCpp } from '../../src/engine/llama-cpp/llama-cpp-adapter.ts';
import { resolveModelFile } from '../../src/engine/gguf/model-file.ts';
import { causal, forwardPass, type Mask, placed, scaleCell } from './forward-pass.ts';
import { largestDifference, logProbabilities, type Logits, ReferenceModel } from './reference-model.ts';

const shapes = ['tiny-llama', 'tiny-llama-rope-freqs', 'tiny-qwen2', 'tiny-qwen3'];
const read = new Map<string, ReferenceModel>();
async function open(shape: string): Promise<ReferenceModel> {
  const reference = read.get(shape) ?? ReferenceModel.read(await resolveModelFile(`random:${shape}`));
  read.set(shape, reference);
  return reference;
}

/** Some tokens, in no order that a model could find. */
const tokens = (count: number, seed: number): number[] =>
  Array.from({ length: count }, (_, index) => (index * index * 7 + index * 113 + seed * 631) % 2048);
const header = tokens(5, 1);
const blocks = [tokens(7, 2), tokens(4, 3), tokens(9, 4)];
const suffix = tokens(6, 5);
const joined = { header, blocks, suffix } as const;

/** The largest difference in ln p between two computations, over all tokens of the vocabulary and the suffix. */
function distance(a: Logits, b: Logits): number {
  expect(a.length).toBe(b.length);
  const differences = a.map((logits, index) => {
    const other = logProbabilities(b[index]!);
    return logProbabilities(logits).reduce((most, p, token) => Math.max(most, Math.abs(p - other[token]!)), 0);
  });
  return Math.max(...differences);
}

describe.each(shapes)('%s', (shape) => {
  test.each([
    ['F32', 1e-4],
    ['F16', 0.03],
  ] as const)('llama.cpp with KV in %s differs by at most %d in ln p', async (kvType, bound) => {
    const model = `random:${shape}`;
    const reference = await open(shape);
    await using engine = await llamaCpp.opener({}).open({ model, kvType, contextTokens: 256 });
    await using session = await engine.openSession('test');
    const [prompt, continuation] = [tokens(100, 6), tokens(3, 7)];
    const { next, logProbabilities: given } = await session.score(prompt, continuation);
    const expected = reference.prefixLogits([...prompt, ...continuation]).slice(prompt.length - 1);
    expect(largestDifference(expected[0]!, next)).toBeLessThan(bound);
    continuation.forEach((token, index) => {
      expect(Math.abs(logProbabilities(expected[index]!)[token]! - given[index]!)).toBeLessThan(bound);
    });
    // The bound would notice one position too many.
    const moved = forwardPass(reference.weights, placed(prompt.slice(1), 0), [], causal(0)).logits;
    expect(largestDifference(moved.at(-1)!, next)).toBeGreaterThan(3 * bound);
  });

  test('a block that was moved behind no header is the block computed there', async () => {
    const reference = await open(shape);
    // With nothing before it a block sees itself alone wherever it stands, so that one masked pass can compute all.
    const owners = [...blocks.flatMap((block, owner) => block.map(() => owner)), ...suffix.map(() => -1)];
    const sees: Mask = (query, cell) => cell <= query && (owners[query] === -1 || owners[cell] === owners[query]);
    const whole = forwardPass(reference.weights, placed([...blocks.flat(), ...suffix], 0), [], sees);
    const moved = reference.joinedLogits({ ...joined, header: [] });
    expect(distance(moved, whole.logits.slice(-suffix.length))).toBeLessThan(1e-9);
  });

  test('parallel blocks are one pass in which they share their positions and do not see each other', async () => {
    const reference = await open(shape);
    const owners = [header, ...blocks, suffix].flatMap((part, owner) => part.map(() => owner));
    const last = blocks.length + 1;
    const sees: Mask = (query, cell) =>
      cell <= query && (owners[query] === last || owners[cell] === 0 || owners[cell] === owners[query]);
    const longest = Math.max(...blocks.map((block) => block.length));
    const placedTokens = [
      ...placed(header, 0),
      ...blocks.flatMap((block) => placed(block, header.length)),
      ...placed(suffix, header.length + longest),
    ];
    const whole = forwardPass(reference.weights, placedTokens, [], sees);
    const parallel = reference.joinedLogits({ ...joined, positions: 'parallel' });
    expect(distance(parallel, whole.logits.slice(-suffix.length))).toBeLessThan(1e-9);
  });

  test('one block, and blocks that are recomputed whole, are the contiguous text', async () => {
    const reference = await open(shape);
    const text = (parts: readonly (readonly number[])[]): Logits =>
      reference.prefixLogits([...header, ...parts.flat(), ...suffix]).slice(-suffix.length);
    const [one] = blocks;
    const single = { ...joined, blocks: [one!] };
    expect(distance(reference.joinedLogits(single), text([one!]))).toBeLessThan(1e-9);
    expect(distance(reference.joinedLogits({ ...single, positions: 'parallel' }), text([one!]))).toBeLessThan(1e-9);
    expect(distance(reference.joinedLogits({ ...joined, recomputed: () => true }), text(blocks))).toBeLessThan(1e-9);
    expect(distance(reference.joinedLogits({ ...joined, blocks: [] }), text([]))).toBeLessThan(1e-9);
  });

  test('the ways to join differ from the text and from each other by more than any bound', async () => {
    const reference = await open(shape);
    const ways = [
      reference.prefixLogits([...header, ...blocks.flat(), ...suffix]).slice(-suffix.length),
      reference.joinedLogits(joined),
      reference.joinedLogits({ ...joined, recomputed: ({ index }) => index < 2 }),
      reference.joinedLogits({ ...joined, positions: 'parallel' }),
      reference.joinedLogits({ ...joined, alpha: 0.5 }),
      reference.joinedLogits({ ...joined, alpha: 0 }),
    ];
    for (const [index, a] of ways.entries()) {
      for (const b of ways.slice(index + 1)) expect(distance(a, b)).toBeGreaterThan(0.1);
    }
  });
});

describe('alpha', () => {
  test('scales the values of memories alone, after tokens are recomputed', async () => {
    const reference = await open('tiny-llama');
    const { weights } = reference;
    const { cells } = forwardPass(weights, placed([...header, ...blocks.flat()], 0), [], causal(0));
    const scaled = cells.map((cell, index) => (index < header.length ? cell : scaleCell(cell, 0.5)));
    const { logits } = forwardPass(weights, placed(suffix, cells.length), scaled, causal(cells.length));
    expect(distance(reference.joinedLogits({ ...joined, recomputed: () => true, alpha: 0.5 }), logits)).toBeLessThan(
      1e-9,
    );
  });

  test('of 0 silences memories and still spends attention on them: that is not the same as not seeing them', async () => {
    const reference = await open('tiny-llama');
    const { weights } = reference;
    const { cells } = forwardPass(weights, placed([...header, ...blocks[0]!], 0), [], causal(0));
    const hidden: Mask = (query, cell) =>
      cell < header.length || (cell >= cells.length && causal(cells.length)(query, cell));
    const unseen = forwardPass(weights, placed(suffix, cells.length), cells, hidden).logits;
    const absent = forwardPass(
      weights,
      placed(suffix, cells.length),
      cells.slice(0, header.length),
      causal(header.length),
    );
    expect(distance(unseen, absent.logits)).toBe(0);

    const silent = reference.joinedLogits({ ...joined, blocks: [blocks[0]!], alpha: 0 });
    const emptied = cells.map((cell, index) =>
      index < header.length ? cell : { ...cell, values: cell.values.map((value) => new Float64Array(value.length)) },
    );
    const { logits } = forwardPass(weights, placed(suffix, cells.length), emptied, causal(cells.length));
    expect(distance(silent, logits)).toBe(0);
    expect(distance(silent, unseen)).toBeGreaterThan(0.1);
  });
});

test('recomputed tokens of parallel blocks are refused', async () => {
  const reference = await open('tiny-llama');
  expect(() => reference.joinedLogits({ ...joined, positions: 'parallel', recomputed: () => true })).toThrow(
    RangeError,
  );
});
