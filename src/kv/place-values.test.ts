import { expect, test } from 'vitest';
import { bothKernels } from '../../test/fixtures/both-kernels.ts';
import { scattered } from '../../test/fixtures/plain-keys.ts';
import type { KvLayout } from '../engine/sequence-state.ts';
import { giveMemoryBack, takeMemory, wholeMemory } from './kernel-memory.ts';
import { placeValues } from './place-values.ts';

/** Rows shorter than a vector, as long, and of every remainder. */
const shapes = [
  { dimensions: 16, cells: [1, 50, 3, 1], valuesTransposed: true },
  { dimensions: 3, cells: [9, 40_000, 7, 8, 16, 17], valuesTransposed: true },
  { dimensions: 400, cells: [20, 15, 31, 32, 33], valuesTransposed: true },
  { dimensions: 16, cells: [1, 50, 3, 1], valuesTransposed: false },
];
const cases = bothKernels.flatMap((kernels) => shapes.map((shape) => ({ ...shape, kernels })));

test.each(cases)('values come to lie side by side: $kernels.name, $cells, transposed $valuesTransposed', (given) => {
  const { dimensions, cells, valuesTransposed, kernels } = given;
  const total = cells.reduce((sum, count) => sum + count, 0);
  const numbers = Uint16Array.from({ length: 2 * dimensions * total }, (_, index) => 65_536 * scattered(index));
  const layout: KvLayout = {
    layers: 1,
    heads: 1,
    headDimension: dimensions,
    keyType: 'F16',
    valueType: 'F16',
    valuesTransposed,
  };
  const address = takeMemory(numbers.byteLength)!;
  const target = address + numbers.byteLength / 2;
  wholeMemory().set(new Uint8Array(numbers.buffer), address);
  const expected = new Uint16Array(dimensions * total);
  let start = 0;
  for (const count of cells) {
    const place = { addresses: [target], cells: total, start };
    placeValues([address + 2 * dimensions * start], count, place, layout, kernels);
    for (let index = 0; index < dimensions * count; index++) {
      const [row, column] = [Math.floor(index / count), index % count];
      const place = valuesTransposed ? row * total + start + column : dimensions * start + index;
      expected[place] = numbers[dimensions * start + index]!;
    }
    start += count;
  }
  const placed = wholeMemory().subarray(target, target + expected.byteLength);
  expect(Buffer.compare(placed, new Uint8Array(expected.buffer))).toBe(0);
  giveMemoryBack(address, numbers.byteLength);
});
