import { readFileSync, statSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ContextKind, savedState } from '../../../test/fixtures/saved-states.ts';
import { tensorBytes } from '../../../test/fixtures/moved-cells.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { errorLike } from '../../../test/fixtures/error-like.ts';
import { gatherCells, type ParsedState, parseState, stateParts, writeParts } from './state-file.ts';

const scratch = temporaryFolder();

const tokens = Array.from({ length: 19 }, (_, index) => 20 + 3 * index);
const usual: ContextKind = { flashAttention: false, kvType: 'F16', sequences: 1 };
/** KV layout of the shipped model. */
const [HEADS, HEAD_DIMENSION] = [2, 32];

describe.each<ContextKind>([
  usual,
  { flashAttention: false, kvType: 'F32', sequences: 1 },
  { flashAttention: true, kvType: 'F16', sequences: 1 },
  { flashAttention: true, kvType: 'F32', sequences: 2 },
  { flashAttention: false, kvType: 'F16', sequences: 3 },
])('a state saved with %o', (kind) => {
  let saved: Buffer<ArrayBuffer>;
  let parsed: ParsedState;
  beforeAll(async () => {
    saved = await savedState(kind, tokens, scratch.path);
    parsed = parseState(saved, 'x.state');
  });

  test('is written with the bytes that were read, except for the number of its sequence', () => {
    const written = Buffer.concat(stateParts(parsed, tokens, { ...parsed.form, streams: kind.sequences }));
    // llama.cpp writes the number of its sequence into each cell, and reads it into any sequence; the cells are in its stream.
    const own = kind.sequences - 1;
    const streamsAt = 12 + 4 * tokens.length + 4;
    const expected = Buffer.concat([
      saved.subarray(0, streamsAt),
      saved.subarray(streamsAt + 4 * own),
      Buffer.alloc(4 * own),
    ]);
    for (const cell of tokens.keys()) {
      const at = streamsAt + 4 + 12 * cell + 8;
      expect(expected.readInt32LE(at)).toBe(own);
      expected.writeInt32LE(0, at);
    }
    expect(written.equals(expected)).toBe(true);
  });

  test('has the expected contents', () => {
    const { tensors, positions, keys, values } = parsed;
    const rowBytes = HEADS * HEAD_DIMENSION * (kind.kvType === 'F16' ? 2 : 4);
    expect(tensors).toEqual({
      layers: 8,
      keyType: kind.kvType,
      valueType: kind.kvType,
      keyRowBytes: rowBytes,
      valueRowBytes: rowBytes,
      valuesTransposed: !kind.flashAttention,
    });
    expect([[...parsed.tokens], parsed.streams]).toEqual([tokens, kind.sequences]);
    expect([...positions]).toEqual(tokens.map((_, index) => index));
    expect(keys.map(({ length }) => length)).toEqual(keys.map(() => tokens.length * rowBytes));
    expect(values.map(({ buffer }) => buffer)).toEqual(values.map(() => saved.buffer));
  });

  test('can be written for another number of sequences', () => {
    for (const streams of [1, 4]) {
      const other = parseState(
        Buffer.concat(stateParts(parsed, parsed.tokens, { ...parsed.form, streams })),
        'other.state',
      );
      expect(other).toMatchObject({ streams, positions: parsed.positions });
      expect(tensorBytes(other).equals(tensorBytes(parsed))).toBe(true);
    }
  });

  test('can be copied cell by cell in any order', () => {
    const order = [4, 5, 6, 0, 18, 2];
    const gathered = gatherCells(parsed, order);
    expect([...gathered.positions]).toEqual(order);
    for (const [place, cell] of order.entries()) {
      const alone = gatherCells(parsed, [cell]);
      expect(tensorBytes(gatherCells(gathered, [place])).equals(tensorBytes(alone))).toBe(true);
      const row = parsed.tensors.keyRowBytes;
      const keys = parsed.keys.map((tensor) => tensor.subarray(cell * row, (cell + 1) * row));
      expect(Buffer.concat(alone.keys).equals(Buffer.concat(keys))).toBe(true);
    }
  });
});

describe.each([
  { version: 4, isWrapped: true },
  { version: 4, isWrapped: false },
] as const)('in the form of other builds, %o', (form) => {
  let parsed: ParsedState;
  let written: Buffer;
  beforeAll(async () => {
    parsed = parseState(await savedState(usual, tokens, scratch.path), 'x.state');
    written = Buffer.concat(stateParts(parsed, tokens, { ...form, streams: 2 }));
  });

  test('a written state is read back the same', () => {
    const read = parseState(Buffer.from(written), 'x.state');
    expect(read).toMatchObject({ form, tokens: Int32Array.from(tokens), streams: 2, positions: parsed.positions });
    expect(tensorBytes(read).equals(tensorBytes(parsed))).toBe(true);
  });

  test('keys rotated by llama.cpp are refused, and image tokens', () => {
    const recordEnd = 12 + 4 * (tokens.length + (form.isWrapped ? 4 : 0));
    const rotations = recordEnd + 8 + 12 * tokens.length + 8;
    const rotated = Buffer.from(written);
    rotated.writeInt32LE(64, rotations);
    expect(() => parseState(rotated, 'x.state')).toThrow('llama.cpp has rotated its keys or values');
    if (!form.isWrapped) return;
    for (const [at, number] of Object.entries({ [recordEnd - 4]: 1, 16: 2, 20: tokens.length + 1 })) {
      const other = Buffer.from(written);
      other.writeInt32LE(number, Number(at));
      expect(() => parseState(other, 'x.state')).toThrow('its token list holds images or audio');
    }
  });
});

test('a state is written to a private file with exactly its parts, and never overwrites a file', async () => {
  const parsed = parseState(await savedState(usual, tokens, scratch.path), 'x.state');
  const parts = stateParts(parsed, tokens, { ...parsed.form, streams: 2 });
  const path = scratch.file('written.state');
  writeParts(path, parts);
  expect(readFileSync(path).equals(Buffer.concat(parts))).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(() => writeParts(path, parts)).toThrow('EEXIST');
});

describe('is refused by name:', () => {
  let saved: Buffer;
  beforeAll(async () => {
    saved = await savedState(usual, tokens, scratch.path);
  });
  const cellsAt = 12 + 4 * tokens.length + 8;
  const keysAt = cellsAt + 12 * tokens.length + 8;

  const damages: [string, string, (bytes: Buffer<ArrayBuffer>) => Buffer<ArrayBuffer>][] = [
    ['text', 'not a llama.cpp state', () => Buffer.from('some text that is long enough')],
    ['nothing', 'cut short', () => Buffer.alloc(0)],
    ['cut in the head', 'cut short', (bytes) => bytes.subarray(0, cellsAt + 30)],
    ['cut by one byte', 'cut short', (bytes) => bytes.subarray(0, -1)],
    ['grown', '2 bytes too long', (bytes) => Buffer.concat([bytes, Buffer.alloc(2)])],
    ['no streams', 'it has no cells', (bytes) => (bytes.writeInt32LE(0, cellsAt - 8), bytes.subarray(0, cellsAt - 4))],
    ['too few tokens', 'tokens, but its last position is', (bytes) => (bytes.writeInt32LE(90, cellsAt), bytes)],
    ['a negative position', 'cell 1 has the position -7', (bytes) => (bytes.writeInt32LE(-7, cellsAt + 12), bytes)],
    ['a cell of two', 'cell 1 does not belong to exactly one', (bytes) => (bytes.writeInt32LE(2, cellsAt + 16), bytes)],
    ['cells of several', 'cells 0 and 1 belong to different', (bytes) => (bytes.writeInt32LE(2, cellsAt + 20), bytes)],
    ['quantised keys', 'the keys of layer 0 are Q4_0', (bytes) => (bytes.writeInt32LE(2, keysAt), bytes)],
    ['an unknown type', 'the keys of layer 0 are of type 77', (bytes) => (bytes.writeInt32LE(77, keysAt), bytes)],
    [
      'keys of no size',
      'the keys of layer 0 have an invalid size',
      (bytes) => (bytes.writeInt32LE(0, keysAt + 4), bytes),
    ],
    ['a huge row of keys', 'cut short', (bytes) => (bytes.writeInt32LE(1, keysAt + 8), bytes)],
    [
      'an order of values',
      'its flag for transposed values is 2, not 0 or 1',
      (bytes) => (bytes.writeInt32LE(2, keysAt - 8), bytes),
    ],
    ['M-RoPE', 'positions in several dimensions (M-RoPE)', (bytes) => withExtendedCells(bytes)],
    ['sliding windows', 'a second cache (sliding-window attention', (bytes) => withSecondCache(bytes)],
  ];

  test.each(damages)('%s', (_, why, damage) => {
    const parse = (): unknown => parseState(damage(Buffer.from(saved)), 'x.state');
    expect(parse).toThrow(expect.objectContaining(errorLike('bad-state', 'x.state: unusable KV state: ')));
    expect(parse).toThrow(why);
  });

  test('keys stored in 8 bits', async () => {
    const quantised = await savedState({ flashAttention: true, kvType: 'Q8_0', sequences: 1 }, tokens, scratch.path);
    expect(() => parseState(quantised, 'x.state')).toThrow(
      expect.objectContaining({
        message: 'x.state: unusable KV state: the keys of layer 0 are Q8_0',
        hint: 'store KV in F16 or F32',
      }),
    );
  });

  /** Adds two integers to each cell, between the number of owners and the owner. */
  function withExtendedCells(bytes: Buffer): Buffer<ArrayBuffer> {
    const cells = tokens.map((__, cell) => {
      const at = cellsAt + 12 * cell;
      return Buffer.concat([bytes.subarray(at, at + 8), Buffer.alloc(8), bytes.subarray(at + 8, at + 12)]);
    });
    return Buffer.concat([bytes.subarray(0, cellsAt), ...cells, bytes.subarray(keysAt - 8)]);
  }

  /** Appends a second cache: streams, cells and KV again. */
  function withSecondCache(bytes: Buffer): Buffer<ArrayBuffer> {
    return Buffer.concat([bytes, bytes.subarray(cellsAt - 8)]);
  }
});
