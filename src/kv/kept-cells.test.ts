import { expect, test } from 'vitest';
import { lendMemory, takeMemory, wholeMemory } from './kernel-memory.ts';
import { KeptCells } from './kept-cells.ts';
import type { KvCells } from './sequence-state.ts';

const layout = {
  layers: 2,
  keyType: 'F16',
  valueType: 'F16',
  keyRowBytes: 16,
  valueRowBytes: 32,
  valuesTransposed: true,
} as const;

function cells(count: number): KvCells {
  const tensors = (rowBytes: number, from: number): Uint8Array[] =>
    [0, 1].map((layer) => Uint8Array.from({ length: count * rowBytes }, (_, index) => from + layer + index));
  const integers = Int32Array.from({ length: count }, (_, index) => index);
  return { layout, tokenIds: integers, positions: integers, keys: tensors(16, 3), values: tensors(32, 90) };
}

function plain({ keys, values }: KvCells): number[][] {
  return [...keys, ...values].map((tensor) => [...tensor]);
}

test('are read as they were kept, also after the memory has grown', () => {
  const given = cells(5);
  const kept = new KeptCells(given);
  const expected = plain(given);
  given.keys[0]!.fill(0);
  expect(plain(kept)).toEqual(expected);
  const before = wholeMemory();
  takeMemory(before.length);
  expect([before.length, plain(kept)]).toEqual([0, expected]);
});

test('can be read after they moved out, and their memory is used again', () => {
  const kept = new KeptCells(cells(5));
  const { keysAt } = kept.place!;
  kept.moveOut();
  const next = new KeptCells(cells(5));
  expect(next.place!.keysAt).toEqual(keysAt);
  next.erase();
  expect([kept.place, plain(kept)]).toEqual([undefined, plain(cells(5))]);
});

test('are gone after they were erased: nobody reads them, and no byte is left', () => {
  const kept = new KeptCells(cells(5));
  const [views, address] = [[...kept.keys, ...kept.values], kept.place!.keysAt[0]!];
  kept.erase();
  expect(views.every((view) => view.every((byte) => byte === 0))).toBe(true);
  expect(() => kept.keys).toThrow(expect.objectContaining({ code: 'not-found' }));
  expect(() => kept.values).toThrow('was deleted while a turn was using it');
  expect(takeMemory(5 * 96)).toBe(address);
});

test('lent memory is the same until more is asked for, and never that of kept cells', () => {
  const first = lendMemory(1000).fill(1);
  const kept = new KeptCells(cells(400));
  expect(lendMemory(900).byteOffset).toBe(first.byteOffset);
  lendMemory(1_000_000).fill(2);
  expect(plain(kept)).toEqual(plain(cells(400)));
});
