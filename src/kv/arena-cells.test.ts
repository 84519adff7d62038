import { expect, test } from 'vitest';
import { plainState, smallLayout } from '../../test/fixtures/plain-states.ts';
import { kvBytes, type SequenceState } from '../engine/sequence-state.ts';
import { takeMemory, wholeMemory } from './wasm-arena.ts';
import { ArenaCells, ArenaScratch, JoinedState } from './arena-cells.ts';

const layout = { ...smallLayout, valueType: 'F32' } as const;
const cells = (count: number): SequenceState => plainState(layout, new Array<number>(count).fill(7));

function plain({ keys, values }: SequenceState): number[][] {
  return [...keys, ...values].map((tensor) => [...tensor]);
}

test('arena cells have the bytes that were stored, also after the memory has grown', () => {
  const given = cells(5);
  const kept = new ArenaCells(given);
  const expected = plain(given);
  given.keys[0]!.fill(0);
  expect(plain(kept)).toEqual(expected);
  const before = wholeMemory();
  takeMemory(before.length);
  expect([before.length, plain(kept)]).toEqual([0, expected]);
});

test('arena cells can be read after they moved out, and their memory is reused', () => {
  const kept = new ArenaCells(cells(5));
  const { keysAt } = kept.place!;
  kept.moveOut();
  const next = new ArenaCells(cells(5));
  expect(next.place!.keysAt).toEqual(keysAt);
  next.erase();
  expect([kept.place, plain(kept)]).toEqual([undefined, plain(cells(5))]);
});

test('erased arena cells cannot be read, and their bytes are cleared', () => {
  const kept = new ArenaCells(cells(5));
  const [views, address] = [[...kept.keys, ...kept.values], kept.place!.keysAt[0]!];
  kept.erase();
  expect(views.every((view) => view.every((byte) => byte === 0))).toBe(true);
  expect(() => kept.keys).toThrow(expect.objectContaining({ code: 'not-found' }));
  expect(() => kept.values).toThrow('was deleted while a turn was using it');
  expect(takeMemory(kvBytes(cells(5)))).toBe(address);
});

test('arena cells are in plain memory where they would leave too little to joins', () => {
  const kept = new ArenaCells(cells(5), 2 ** 32);
  expect([kept.place, plain(kept)]).toEqual([undefined, plain(cells(5))]);
  const scratch = new ArenaScratch();
  const joined = new JoinedState(cells(5));
  expect(scratch.place(joined).keysAt).toBe(joined.keysAt);
  expect(() => scratch.take(2 ** 33)).toThrow('the KV blocks of the turns under way do not fit into 4 GiB');
  scratch[Symbol.dispose]();
  joined[Symbol.dispose]();
});

test('disposing of arena cells does nothing: the store owns them', () => {
  const kept = new ArenaCells(cells(5));
  kept[Symbol.dispose]();
  expect(plain(kept)).toEqual(plain(cells(5)));
  kept.erase();
});

test('joined states never share memory, which is reused after they are disposed of', () => {
  const [first, second] = [new JoinedState(cells(9)), new JoinedState(cells(9))];
  first.keys.forEach((tensor) => tensor.fill(1));
  second.keys.forEach((tensor) => tensor.fill(2));
  expect(first.keys.every((tensor) => tensor.every((byte) => byte === 1))).toBe(true);
  const addresses = [first.keysAt[0], second.keysAt[0]].sort();
  second[Symbol.dispose]();
  second[Symbol.dispose]();
  first[Symbol.dispose]();
  expect(() => first.keys).toThrow('joined KV was disposed of');
  const again = [new JoinedState(cells(9)), new JoinedState(cells(9))];
  expect(again.map(({ keysAt }) => keysAt[0]).sort()).toEqual(addresses);
  again.forEach((state) => state[Symbol.dispose]());
});
