import { describe, expect, it } from 'vitest';
import { copyOf, keysOfCell, plainState, smallLayout, valuesOfCell } from '../../test/fixtures/plain-states.ts';
import { quantisedTypes } from '../store/records/store-type.ts';
import { evictCells } from './evict-cells.ts';
import { QuantisedCells } from './quantised-cells.ts';
import { bytesAtRest, readQuantised, writeQuantised } from './quantised-file.ts';

const ids = [1, 5, 6, 20, 21];

describe.each(quantisedTypes)('%s', (type) => {
  it.each([true, false])('comes back near what it was, with values transposed: %s', (valuesTransposed) => {
    const layout = { ...smallLayout, headDimension: 48, valuesTransposed };
    const state = plainState(layout, ids, { start: 7 });
    const bytes = writeQuantised(state, type);
    const back = readQuantised(bytes);
    expect(back.layout).toEqual(layout);
    expect([...back.positions]).toEqual([7, 8, 9, 10, 11]);
    expect([...back.tokenIds]).toEqual(ids);
    expect(bytes.length - bytesAtRest(layout, ids.length, type)).toBe(40 + 8 * ids.length);
    const step = type === 'q8_0' ? 2 / 254 : 2 / 8;
    for (let layer = 0; layer < layout.layers; layer++) {
      for (const cell of ids.keys()) {
        const before = [...keysOfCell(state, layer, cell).flat(), ...valuesOfCell(state, layer, cell)];
        const after = [...keysOfCell(back, layer, cell).flat(), ...valuesOfCell(back, layer, cell)];
        after.forEach((number, at) => expect(Math.abs(number - before[at]!)).toBeLessThan(step + 0.01));
      }
    }
  });

  it('of one head does not depend on what another holds', () => {
    const state = plainState({ ...smallLayout, headDimension: 16 }, ids);
    const left = evictCells(state, { by: 'knorm', ratio: 0.5 });
    const [whole, part] = [readQuantised(writeQuantised(state, type)), readQuantised(writeQuantised(left, type))];
    const all = ids.map((_, cell) => JSON.stringify(keysOfCell(whole, 0, cell)[1]));
    for (const cell of left.positions.keys()) expect(all).toContain(JSON.stringify(keysOfCell(part, 0, cell)[1]));
  });

  it('refuses bytes that are cut short, or of another format', () => {
    const bytes = writeQuantised(plainState(smallLayout, ids), type);
    for (const wrong of [
      bytes.slice(0, -1),
      bytes.slice(0, 20),
      new Uint8Array(0),
      bytes.with(0, 1),
      bytes.with(36, 9),
    ]) {
      expect(() => readQuantised(wrong)).toThrow(expect.objectContaining({ code: 'bad-state' }));
    }
  });

  it('is gone once it is erased', () => {
    const state = plainState(smallLayout, ids);
    const bytes = writeQuantised(state, type);
    const kept = new QuantisedCells(bytes, state);
    expect(copyOf(kept.restored())).toEqual(copyOf(readQuantised(bytes)));
    kept.erase();
    expect(bytes.every((byte) => byte === 0)).toBe(true);
    expect(() => kept.restored()).toThrow(expect.objectContaining({ code: 'not-found' }));
  });
});
