import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ContextKind, savedState } from '../../test/fixtures/saved-states.ts';
import { parseSequenceState, writeSequenceState } from './sequence-state.ts';

const scratch = mkdtempSync(join(tmpdir(), 'dki-bench-sequence-state-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const tokens = Array.from({ length: 19 }, (_, index) => 20 + 3 * index);
const usual: ContextKind = { flashAttention: false, kvType: 'F16', sequences: 1 };

describe.each<ContextKind>([
  usual,
  { flashAttention: false, kvType: 'F32', sequences: 1 },
  { flashAttention: true, kvType: 'F16', sequences: 1 },
  { flashAttention: true, kvType: 'F32', sequences: 2 },
  { flashAttention: false, kvType: 'F16', sequences: 3 },
])('a state saved with %o', (kind) => {
  let saved: Buffer;
  beforeAll(async () => {
    saved = await savedState(kind, tokens, scratch);
  });

  test('is written byte by byte as it was read', () => {
    expect(Buffer.compare(writeSequenceState(parseSequenceState(saved)), saved)).toBe(0);
  });

  test('says what it holds', () => {
    const { cells, ...head } = parseSequenceState(saved);
    const numberBytes = kind.kvType === 'F16' ? 2 : 4;
    const rowBytes = cells.layout.keyRowBytes;
    expect(cells.layout).toMatchObject({
      keyType: kind.kvType,
      valueType: kind.kvType,
      valueRowBytes: rowBytes,
      valuesTransposed: !kind.flashAttention,
    });
    expect([...cells.tokenIds]).toEqual(tokens);
    expect([...head.tokenIds]).toEqual(tokens);
    expect([...cells.positions]).toEqual(tokens.map((_, index) => index));
    expect([head.streams, head.stream]).toEqual([kind.sequences, kind.sequences - 1]);
    expect(rowBytes % (8 * numberBytes)).toBe(0);
    expect(cells.keys.map(({ length }) => length)).toEqual(cells.keys.map(() => tokens.length * rowBytes));
    expect(cells.values.map(({ buffer }) => buffer)).toEqual(cells.values.map(() => saved.buffer));
  });
});

describe('is refused by name:', () => {
  let saved: Buffer;
  beforeAll(async () => {
    saved = await savedState(usual, tokens, scratch);
  });
  const cellsAt = 12 + 4 * tokens.length + 8;
  const keysAt = cellsAt + 12 * tokens.length + 8;

  const damages: [string, string, (bytes: Buffer) => Buffer][] = [
    ['text', 'not a llama.cpp state', () => Buffer.from('some text that is long enough')],
    ['nothing', 'cut short', () => Buffer.alloc(0)],
    ['cut in the head', 'cut short', (bytes) => bytes.subarray(0, cellsAt + 30)],
    ['cut by one byte', 'cut short', (bytes) => bytes.subarray(0, -1)],
    ['grown', '2 bytes too long', (bytes) => Buffer.concat([bytes, Buffer.alloc(2)])],
    ['no streams', 'it has no cells', (bytes) => (bytes.writeInt32LE(0, cellsAt - 8), bytes.subarray(0, cellsAt - 4))],
    ['too few tokens', 'tokens, and the last position is', (bytes) => (bytes.writeInt32LE(90, cellsAt), bytes)],
    ['a negative position', 'cell 1 has the position -7', (bytes) => (bytes.writeInt32LE(-7, cellsAt + 12), bytes)],
    ['a cell of two', 'cell 1 does not belong to exactly one', (bytes) => (bytes.writeInt32LE(2, cellsAt + 16), bytes)],
    ['cells of several', 'cell 1 belongs to another sequence', (bytes) => (bytes.writeInt32LE(2, cellsAt + 20), bytes)],
    ['quantised keys', 'the keys of layer 0 are Q4_0', (bytes) => (bytes.writeInt32LE(2, keysAt), bytes)],
    ['an unknown type', 'the keys of layer 0 are of type 77', (bytes) => (bytes.writeInt32LE(77, keysAt), bytes)],
    ['keys of no size', 'the keys of layer 0 have another', (bytes) => (bytes.writeInt32LE(0, keysAt + 4), bytes)],
    ['an order of values', 'an unknown order of values, 2', (bytes) => (bytes.writeInt32LE(2, keysAt - 8), bytes)],
    ['M-RoPE', 'positions in several dimensions (M-RoPE)', (bytes) => withExtendedCells(bytes)],
    ['sliding windows', 'a second cache (sliding-window attention', (bytes) => withSecondCache(bytes)],
  ];

  test.each(damages)('%s', (_, why, damage) => {
    expect(() => parseSequenceState(damage(Buffer.from(saved)), 'x.state')).toThrow(
      expect.objectContaining({
        code: 'bad-state',
        message: expect.stringContaining(`x.state: unusable K/V state: `),
      }),
    );
    expect(() => parseSequenceState(damage(Buffer.from(saved)))).toThrow(why);
  });

  test('keys that llama.cpp itself keeps in 8 bits', async () => {
    const quantised = await savedState({ flashAttention: true, kvType: 'Q8_0', sequences: 1 }, tokens, scratch);
    expect(() => parseSequenceState(quantised)).toThrow(
      expect.objectContaining({
        message: 'K/V state: unusable K/V state: the keys of layer 0 are Q8_0',
        hint: 'keep K/V in F16 or F32',
      }),
    );
  });

  /** Two more integers in each cell, between its count of owners and its owner. */
  function withExtendedCells(bytes: Buffer): Buffer {
    const cells = tokens.map((__, cell) => {
      const at = cellsAt + 12 * cell;
      return Buffer.concat([bytes.subarray(at, at + 8), Buffer.alloc(8), bytes.subarray(at + 8, at + 12)]);
    });
    return Buffer.concat([bytes.subarray(0, cellsAt), ...cells, bytes.subarray(keysAt - 8)]);
  }

  /** Streams, cells and K/V once more behind the first. */
  function withSecondCache(bytes: Buffer): Buffer {
    return Buffer.concat([bytes, bytes.subarray(cellsAt - 8)]);
  }
});
