import { expect, test } from 'vitest';
import type { SequenceState } from '../engine/sequence-state.ts';
import { leaseMemory, takeMemory, wholeMemory } from './kernel-memory.ts';
import { KeptCells } from './kept-cells.ts';
import { ownedState } from './owned-state.ts';

const layout = {
  layers: 2,
  heads: 1,
  headDimension: 8,
  keyType: 'F16',
  valueType: 'F32',
  valuesTransposed: true,
} as const;

function cells(count: number): SequenceState {
  const tensors = (rowBytes: number, from: number): Uint8Array[] =>
    [0, 1].map((layer) => Uint8Array.from({ length: count * rowBytes }, (_, index) => from + layer + index));
  const integers = Int32Array.from({ length: count }, (_, index) => index);
  return ownedState({ layout, tokenIds: integers, positions: integers, keys: tensors(16, 3), values: tensors(32, 90) });
}

function plain({ keys, values }: SequenceState): number[][] {
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

test('are not disposed of by those who found them', () => {
  const kept = new KeptCells(cells(5));
  kept[Symbol.dispose]();
  expect(plain(kept)).toEqual(plain(cells(5)));
  kept.erase();
});

test('leased memory is that of the lease before, until more is asked for, and never that of kept cells', () => {
  const address = (sizeBytes: number): number => {
    using lease = leaseMemory(sizeBytes);
    wholeMemory().fill(1, lease.address, lease.address + sizeBytes);
    return lease.address;
  };
  const first = address(1000);
  const kept = new KeptCells(cells(400));
  expect(address(900)).toBe(first);
  address(1_000_000);
  expect(plain(kept)).toEqual(plain(cells(400)));
});

test('two leases at once are of different memory, which is used again after both', () => {
  const [first, second] = [leaseMemory(1000), leaseMemory(1000)];
  expect(Math.abs(first.address - second.address)).toBeGreaterThanOrEqual(1000);
  second[Symbol.dispose]();
  second[Symbol.dispose]();
  first[Symbol.dispose]();
  const again = [leaseMemory(1000), leaseMemory(1000)];
  expect(again.map(({ address }) => address).sort()).toEqual([first.address, second.address].sort());
  again.forEach((lease) => lease[Symbol.dispose]());
});
