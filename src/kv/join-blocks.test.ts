import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { decodeHalf, encodeHalf } from '../../test/fixtures/plain-keys.ts';
import { savedState } from '../../test/fixtures/saved-states.ts';
import { turnedKeys } from '../../test/fixtures/turned-keys.ts';
import { presetModels } from '../config/shipped-models.ts';
import { LanguageModel } from '../llm/language-model.ts';
import type { TokenId } from '../llm/model-info.ts';
import type { ModelSequence } from '../llm/model-sequence.ts';
import { cutBlock, kvBytes } from './cut-block.ts';
import { contiguousPositions, joinBlocks, type JoinOptions, PLACEHOLDER_TOKEN } from './join-blocks.ts';
import { KeptCells } from './kept-cells.ts';
import { keyRotation } from './rotate-keys.ts';
import { RotatedKeys } from './rotated-keys.ts';
import { type KvCells, parseSequenceState } from './sequence-state.ts';

const scratch = mkdtempSync(join(tmpdir(), 'dki-bench-join-'));
const path = join(scratch, 'a.state');
let model: LanguageModel;
let sequence: ModelSequence;
let options: JoinOptions;
let header: readonly TokenId[];
let lines: readonly (readonly TokenId[])[];
let question: readonly TokenId[];
/** Each line, evaluated behind the header alone. */
let states: Uint8Array[];
let blocks: KvCells[];
let headerCells: KvCells;

async function evaluated(tokens: readonly TokenId[]): Promise<Uint8Array> {
  await sequence.clear();
  await sequence.evaluate(tokens);
  await sequence.saveState(path);
  return readFileSync(path);
}

beforeAll(async () => {
  model = await LanguageModel.load({ modelPath: presetModels.model, contextTokens: 512 });
  sequence = model.openSequence();
  options = { keys: model.info, sequences: 1 };
  header = [model.info.bosToken ?? 0, ...model.tokenizeText('Relevant information:\n')];
  lines = ['[1] My sister Ann lives in Leeds.\n', '[2] I like green tea.\n', '[3] My dog is called Brenko.\n'].map(
    (line) => model.tokenizeText(line),
  );
  question = model.tokenizeText('\nUser: Where does Ann live?\n\nAI:');
  states = [];
  for (const line of lines) states.push(await evaluated([...header, ...line]));
  headerCells = cutBlock(parseSequenceState(states[0]!).cells, 0, header.length);
  blocks = states.map((state, index) => {
    const { cells } = parseSequenceState(state);
    return cutBlock(cells, header.length, header.length + lines[index]!.length);
  });
});
beforeEach(() => sequence.clear());
afterAll(async () => {
  await model.dispose();
  rmSync(scratch, { recursive: true });
});

function contiguous(alpha = 1, from: readonly KvCells[] = blocks): Parameters<typeof joinBlocks>[1] {
  const positions = contiguousPositions(from, header.length);
  return from.map((block, index) => ({ block, position: positions[index]!, alpha }));
}

/** What a join gives, in memory of its own. */
function cellsOf(placements: Parameters<typeof joinBlocks>[1]): KvCells {
  return parseSequenceState(joinBlocks(headerCells, placements, options).slice()).cells;
}

describe('one memory behind its header', () => {
  test('joined is the state of the prefix, byte by byte', () => {
    states.forEach((state, index) => {
      const joined = joinBlocks(headerCells, contiguous(1, [blocks[index]!]), options);
      expect(Buffer.compare(joined, state)).toBe(0);
    });
  });

  test('gives the probabilities of the prefix as text, bit by bit', async () => {
    const asText = await sequence.score([...header, ...lines[1]!, ...question], [5, 6, 7]);
    writeFileSync(path, joinBlocks(headerCells, contiguous(1, [blocks[1]!]), options));
    await sequence.loadState(path);
    expect(await sequence.score(question, [5, 6, 7])).toEqual(asText);
  });

  test.each([
    { flashAttention: true, kvType: 'F16', sequences: 1 },
    { flashAttention: true, kvType: 'F32', sequences: 2 },
    { flashAttention: false, kvType: 'F32', sequences: 1 },
  ] as const)('is the same state in a context of another kind: %o', async (kind) => {
    const state = await savedState(kind, [...header, ...lines[0]!], scratch);
    const { cells, streams, stream, sequenceId } = parseSequenceState(state);
    const cut = [
      [0, header.length],
      [header.length, header.length + 3],
      [header.length + 3, cells.positions.length],
    ].map(([start, end]) => cutBlock(cells, start!, end!));
    const joined = joinBlocks(cut[0]!, contiguous(1, cut.slice(1)), { ...options, sequences: streams });
    const written = parseSequenceState(joined);
    expect(written.cells).toEqual(cells);
    if (stream === 0 && sequenceId === 0) expect(Buffer.compare(joined, state)).toBe(0);
  });
});

describe('several memories', () => {
  test('have the keys of the first layer that llama.cpp computes there, to the rounding of half precision', async () => {
    // In the first layer a key depends on its token and its position alone.
    const whole = parseSequenceState(await evaluated([...header, ...lines.flat()])).cells;
    const joined = cellsOf(contiguous());
    expect(joined.tokenIds).toEqual(whole.tokenIds);
    expect(joined.positions).toEqual(whole.positions);
    expect(largestPairError(joined.keys[0]!, whole.keys[0]!)).toBeLessThan(2 ** -9);
    const off = contiguous().map((placement) => ({ ...placement, position: placement.position + 1 }));
    const displaced = cellsOf(off);
    expect(largestPairError(displaced.keys[0]!, whole.keys[0]!)).toBeGreaterThan(2 ** -4);
    // Deeper layers have not seen the memories before.
    expect(largestPairError(joined.keys.at(-1)!, whole.keys.at(-1)!)).toBeGreaterThan(2 ** -6);
  });

  test('have the values of each block, side by side', () => {
    const joined = parseSequenceState(joinBlocks(headerCells, contiguous(), options)).cells;
    let start = header.length;
    for (const block of blocks) {
      const again = cutBlock(joined, start, start + block.positions.length);
      expect(again.values).toEqual(block.values);
      start += block.positions.length;
    }
    expect(cutBlock(joined, 0, header.length).values).toEqual(headerCells.values);
  });

  test('are read by llama.cpp as that many cells, and answer', async () => {
    writeFileSync(path, joinBlocks(headerCells, contiguous(), options));
    await sequence.loadState(path);
    expect(sequence.tokens).toEqual([...header, ...lines.flat()]);
    const { nextProbabilities } = await sequence.score(question, [5]);
    expect(nextProbabilities.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 4);
  });

  test('may share positions: cells are many, positions few, ids placeholders', async () => {
    const shared = blocks.map((block) => ({ block, position: header.length, alpha: 1 }));
    writeFileSync(path, joinBlocks(headerCells, shared, options));
    await sequence.loadState(path);
    const lengths = lines.map(({ length }) => length);
    const [longest, second] = lengths.toSorted((a, b) => b - a);
    expect(sequence.cells).toBe(header.length + lengths.reduce((sum, length) => sum + length, 0));
    expect(sequence.nextPosition).toBe(header.length + longest!);
    const alone = lines[lengths.indexOf(longest!)]!.slice(second);
    const placeholders = new Array<TokenId>(second!).fill(PLACEHOLDER_TOKEN);
    expect(sequence.tokens).toEqual([...header, ...placeholders, ...alone]);
    // Nothing moved, nothing changed.
    const joined = parseSequenceState(readFileSync(path)).cells;
    const first = cutBlock(joined, header.length, header.length + lengths[0]!);
    expect(first.keys).toEqual(blocks[0]!.keys);
  });
});

test('alpha scales the values of memories, not those of the header, and no key', () => {
  const plain = cellsOf(contiguous());
  const scaled = cellsOf(contiguous(0.4));
  expect(scaled.keys).toEqual(plain.keys);
  const cells = plain.positions.length;
  const halves = (values: Uint8Array): Uint16Array => new Uint16Array(values.slice().buffer);
  plain.values.forEach((values, layer) => {
    const expected = halves(values).map((bits, index) =>
      index % cells < header.length ? bits : encodeHalf(Math.fround(decodeHalf(bits) * Math.fround(0.4))),
    );
    expect(halves(scaled.values[layer]!)).toEqual(expected);
  });
});

test('alpha scales values that are not transposed as well', async () => {
  const kind = { flashAttention: true, kvType: 'F32', sequences: 1 } as const;
  const { cells } = parseSequenceState(await savedState(kind, [...header, ...lines[0]!], scratch));
  const [head, block] = [cutBlock(cells, 0, header.length), cutBlock(cells, header.length, cells.positions.length)];
  const joined = parseSequenceState(joinBlocks(head, contiguous(0.5, [block]), options)).cells;
  const floats = (values: Uint8Array): Float32Array => new Float32Array(values.slice().buffer);
  const boundary = (header.length * cells.layout.valueRowBytes) / 4;
  cells.values.forEach((values, layer) => {
    const expected = floats(values).map((value, index) => (index < boundary ? value : value / 2));
    expect(floats(joined.values[layer]!)).toEqual(expected);
  });
});

test('turned keys that were kept give the same bytes, without turning', () => {
  const rotated = new RotatedKeys(2 ** 20);
  const fresh = joinBlocks(headerCells, contiguous(), options).slice();
  for (let time = 1; time <= 2; time++) {
    expect(Buffer.compare(joinBlocks(headerCells, contiguous(), { ...options, rotated }), fresh)).toBe(0);
    expect(rotated.sizeBytes > 0).toBe(time === 2);
  }
  // The first block is where it was computed; the others were turned.
  expect(rotated.sizeBytes).toBe((kvBytes(blocks[1]!) + kvBytes(blocks[2]!)) / 2);
  const seen = joinBlocks(headerCells, contiguous(), {
    keys: { ...options.keys, headDimension: 1 },
    sequences: 1,
    rotated,
  });
  expect(Buffer.compare(seen, fresh)).toBe(0);
});

test('the bytes are lent until the next join, which may be larger', () => {
  const many = Array.from({ length: 200 }, () => blocks[1]!);
  const expected = joinBlocks(headerCells, contiguous(1, [blocks[0]!]), options).slice();
  const large = joinBlocks(headerCells, contiguous(1, many), options);
  const address = large.byteOffset;
  const small = joinBlocks(headerCells, contiguous(1, [blocks[0]!]), options);
  expect(small.byteOffset).toBe(address);
  expect(Buffer.compare(small, expected)).toBe(0);
});

test.each([1, 0.4])('blocks that are kept give the bytes of blocks that are not, times %d', (alpha) => {
  const kept = [headerCells, ...blocks].map((cells) => new KeptCells(cells));
  const plain = joinBlocks(headerCells, contiguous(alpha), options).slice();
  expect(Buffer.compare(joinBlocks(kept[0]!, contiguous(alpha, kept.slice(1)), options), plain)).toBe(0);
  const half = [kept[1]!, blocks[1]!, kept[3]!];
  expect(Buffer.compare(joinBlocks(headerCells, contiguous(alpha, half), options), plain)).toBe(0);
  kept[2]!.moveOut();
  expect(Buffer.compare(joinBlocks(kept[0]!, contiguous(alpha, kept.slice(1)), options), plain)).toBe(0);
  kept.forEach((cells) => cells.erase());
  expect(() => joinBlocks(headerCells, contiguous(alpha, kept.slice(1)), options)).toThrow('was deleted');
});

test('a part of a block is cut as the whole is', () => {
  const { cells } = parseSequenceState(states[2]!);
  const part = cutBlock(blocks[2]!, 2, 6);
  expect(part).toEqual(cutBlock(cells, header.length + 2, header.length + 6));
  expect([...part.tokenIds]).toEqual(lines[2]!.slice(2, 6));
  expect(kvBytes(part)).toBe(4 * model.info.layers * model.info.kvHeads! * model.info.headDimension * 2 * 2);
  for (const [start, end] of [
    [0, 0],
    [3, 2],
    [-1, 2],
    [0, 999],
    [0.5, 2],
  ] as const) {
    expect(() => cutBlock(blocks[2]!, start, end)).toThrow(`cannot cut the cells ${start} to ${end}`);
  }
});

describe('refuses', () => {
  test('a position that llama.cpp would ignore', () => {
    const below = [{ block: blocks[0]!, position: -1, alpha: 1 }];
    expect(() => joinBlocks(headerCells, below, options)).toThrow('a block at position -1 has cells below 0');
  });

  test('an alpha that is no number', () => {
    expect(() => joinBlocks(headerCells, contiguous(NaN), options)).toThrow('alpha is NaN');
  });

  test('a block of another layout', async () => {
    const kind = { flashAttention: true, kvType: 'F16', sequences: 1 } as const;
    const { cells } = parseSequenceState(await savedState(kind, [...header, ...lines[0]!], scratch));
    const foreign = cutBlock(cells, header.length, cells.positions.length);
    expect(() => joinBlocks(headerCells, contiguous(1, [foreign]), options)).toThrow(
      expect.objectContaining({ code: 'bad-state', message: expect.stringContaining('another layout') }),
    );
  });

  test('keys that are not finite, which llama.cpp would load', () => {
    const damaged = cutBlock(blocks[1]!, 0, blocks[1]!.positions.length);
    damaged.keys[1]!.set([0x00, 0x7e], 6);
    expect(() => joinBlocks(headerCells, contiguous(1, [blocks[0]!, damaged]), options)).toThrow('not finite');
  });
});

/** The largest distance between corresponding pairs of numbers, over the length of the pair. */
function largestPairError(keys: Uint8Array, expected: Uint8Array): number {
  const decode = (bytes: Uint8Array): number[] => Array.from(new Uint16Array(bytes.slice().buffer), decodeHalf);
  const [a, b] = [decode(keys), decode(expected)];
  let largest = 0;
  for (let i = 0; i < Math.min(a.length, b.length); i += 2) {
    const error = Math.hypot(a[i]! - b[i]!, a[i + 1]! - b[i + 1]!);
    largest = Math.max(largest, error / Math.max(Math.hypot(b[i]!, b[i + 1]!), 2 ** -8));
  }
  return largest;
}

test('the rotation of a distance is that of its parts', () => {
  const keys = blocks[0]!.keys[0]!;
  const turned = (from: Uint8Array, distance: number): Uint8Array =>
    turnedKeys(from, keyRotation(options.keys, distance, 'F16'));
  const once = turned(keys, 50);
  const twice = turned(turned(keys, 20), 30);
  expect(largestPairError(twice, once)).toBeLessThan(2 ** -9);
  expect(largestPairError(keys, once)).toBeGreaterThan(2 ** -2);
});
