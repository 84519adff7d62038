import { describe, expect, it } from 'vitest';
import { copyOf } from '../../test/fixtures/moved-cells.ts';
import { plainState, smallLayout } from '../../test/fixtures/plain-states.ts';
import { kvBytes, type KvLayout } from '../engine/sequence-state.ts';
import { readBlockFile, writeBlockFile } from './block-file.ts';

const HEAD_BYTES = 36;
const ids = [7, -1, 300_000];

it.each<Partial<KvLayout>>([
  {},
  { valuesTransposed: false },
  { keyType: 'F32' },
  { valueType: 'F32', headDimension: 3, heads: 1 },
])('gives back what was written, and writes byte by byte what was read: %o', (change) => {
  const state = plainState({ ...smallLayout, ...change }, ids, { start: 5 });
  const bytes = writeBlockFile(state);
  const read = readBlockFile(bytes);
  expect(copyOf(read)).toEqual(copyOf(state));
  expect(Buffer.compare(writeBlockFile(read), bytes)).toBe(0);
  expect(bytes.length).toBe(HEAD_BYTES + ids.length * 8 + kvBytes(state));
  // Views, not copies.
  expect([...read.keys, ...read.values].every(({ buffer }) => buffer === bytes.buffer)).toBe(true);
});

it('is the same on every machine', () => {
  const state = plainState({ ...smallLayout, layers: 1, heads: 1, headDimension: 1 }, [9], { start: 258 });
  state.keys[0]!.set([1, 2]);
  state.values[0]!.set([3, 4]);
  const expected = ['444b4942', '01000000'.repeat(8), '02010000', '09000000', '0102', '0304'].join('');
  expect(Buffer.from(writeBlockFile(state)).toString('hex')).toBe(expected);
});

it('is read from bytes at any address', () => {
  const bytes = writeBlockFile(plainState(smallLayout, ids));
  const shifted = new Uint8Array(bytes.length + 1);
  shifted.set(bytes, 1);
  expect(copyOf(readBlockFile(shifted.subarray(1)))).toEqual(copyOf(readBlockFile(bytes)));
  expect(copyOf(readBlockFile(Buffer.from(bytes)))).toEqual(copyOf(readBlockFile(bytes)));
});

describe('is refused by name:', () => {
  const whole = Buffer.from(writeBlockFile(plainState(smallLayout, ids)));
  const withWord =
    (index: number, value: number) =>
    (bytes: Buffer): Buffer => (bytes.writeInt32LE(value, 4 * index), bytes);

  it.each<[string, string, (bytes: Buffer) => Buffer]>([
    ['nothing', 'cut short', () => Buffer.alloc(0)],
    ['a head alone', 'cut short', (bytes) => bytes.subarray(0, HEAD_BYTES)],
    ['a byte too few', 'cut short', (bytes) => bytes.subarray(0, -1)],
    ['a byte too many', '1 bytes too long', (bytes) => Buffer.concat([bytes, Buffer.of(0)])],
    ['another format', 'not in version 1 of the format', withWord(0, 0x67677371)],
    ['a newer version', 'not in version 1 of the format', withWord(1, 2)],
    ['no cells', 'invalid file header', withWord(2, 0)],
    ['no layers', 'invalid file header', withWord(3, 0)],
    ['no heads', 'invalid file header', withWord(4, 0)],
    ['heads of nothing', 'invalid file header', withWord(5, 0)],
    ['an unknown type of keys', 'invalid file header', withWord(6, 2)],
    ['an unknown type of values', 'invalid file header', withWord(7, -1)],
    ['an unknown order of values', 'invalid file header', withWord(8, 2)],
    ['more cells than there are', 'cut short', withWord(2, 0x7fffffff)],
    ['more of everything', 'cut short', (bytes) => (bytes.fill(0xff, 8, 24), bytes)],
    ['fewer layers', 'bytes too long', withWord(3, 1)],
    ['a position below 0', 'a position below 0', withWord(9, -1)],
    [
      'an infinite number',
      'keys or values that are not finite',
      (bytes) => (bytes.fill(0x7c, bytes.length - 2), bytes),
    ],
    ['a token below −1', 'a token below −1', withWord(12, -2)],
  ])('%s', (_, why, damage) => {
    expect(() => readBlockFile(damage(Buffer.from(whole)), 'x.block')).toThrow(
      expect.objectContaining({
        code: 'bad-state',
        message: expect.stringMatching(new RegExp(`^x\\.block: unusable KV block: .*${why}`)),
      }),
    );
  });
});
