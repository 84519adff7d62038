import { describe, expect, test } from 'vitest';
import { bothKernels } from '../../test/fixtures/both-kernels.ts';
import { copyOf } from '../../test/fixtures/moved-cells.ts';
import { decodeHalf, encodeHalf, fromBytes, rotateHead, toBytes } from '../../test/fixtures/plain-keys.ts';
import { keysOfCell, plainState, smallLayout, valuesOfCell } from '../../test/fixtures/plain-states.ts';
import { keyRowBytes, kvBytes, type KvLayout, type Rotary, type SequenceState } from '../engine/sequence-state.ts';
import { cutCells } from './cut-cells.ts';
import { type BlockPlacement, contiguousPositions, joinBlocks, type JoinOptions } from './join-blocks.ts';
import { ArenaCells } from './arena-cells.ts';
import { RotatedKeyCache } from './rotated-key-cache.ts';

const rotary: Rotary = { base: 10_000, scale: 1, pairing: 'norm', dimensions: 16, factors: null };
const options: JoinOptions = { rotary };
const headerIds = [1, 5, 6];
const lines = [
  [20, 21, 22, 23, 24],
  [30, 31],
  [40, 41, 42, 43, 44, 45, 46],
];
const header = plainState(smallLayout, headerIds);
const blocks = blocksOf(smallLayout);

/** Each line as if it had been evaluated behind the header alone. */
function blocksOf(layout: KvLayout): SequenceState[] {
  return lines.map((ids, index) => plainState(layout, ids, { start: headerIds.length, seed: index + 1 }));
}

function contiguous(alpha = 1, from: readonly SequenceState[] = blocks): BlockPlacement[] {
  const positions = contiguousPositions(from, headerIds.length);
  return from.map((block, index) => ({ block, position: positions[index]!, alpha }));
}

/** A join's result in memory of its own. */
function joinOf(
  placements: readonly BlockPlacement[],
  { of = header, ...changes }: Partial<JoinOptions> & { readonly of?: SequenceState } = {},
): ReturnType<typeof copyOf> {
  using joined = joinBlocks(of, placements, { ...options, ...changes });
  return copyOf(joined);
}

describe.each<[string, Partial<KvLayout>]>([
  ['half precision, values transposed', {}],
  ['half precision, values as keys', { valuesTransposed: false }],
  ['32 bits, values transposed', { keyType: 'F32', valueType: 'F32' }],
  ['32 bits, values as keys', { keyType: 'F32', valueType: 'F32', valuesTransposed: false }],
])('%s:', (_, change) => {
  const layout = { ...smallLayout, ...change };
  const [head, others] = [plainState(layout, headerIds), blocksOf(layout)];

  const ways = bothKernels.flatMap((kernels) =>
    (['norm', 'neox'] as const).map((pairing) => ({ kernels, name: kernels.name, pairing })),
  );
  test.each(ways)('a join equals plain arithmetic, $pairing pairs, $name kernels', ({ kernels, pairing }) => {
    using joined = joinBlocks(head, contiguous(0.4, others), { rotary: { ...rotary, pairing }, kernels });
    expect([...joined.tokenIds]).toEqual([...headerIds, ...lines.flat()]);
    expect([...joined.positions]).toEqual([...joined.tokenIds.keys()]);
    const alpha = Math.fround(0.4);
    for (let layer = 0; layer < layout.layers; layer++) {
      let cell = headerIds.length;
      for (const block of others) {
        const distance = cell - headerIds.length;
        for (let own = 0; own < block.positions.length; own++, cell++) {
          const heads = keysOfCell(block, layer, own);
          const keys = heads.map((numbers) => rotateHead(numbers, { ...rotary, pairing }, distance));
          expect(keysOfCell(joined, layer, cell)).toEqual(keys.map((numbers) => rounded(numbers, layout.keyType)));
          const values = valuesOfCell(block, layer, own).map((value) => Math.fround(value * alpha));
          expect(valuesOfCell(joined, layer, cell)).toEqual(rounded(values, layout.valueType));
        }
      }
      expect(cell).toBe(joined.positions.length);
    }
    const front = cutCells(joined, 0, headerIds.length);
    expect(copyOf(front)).toEqual(copyOf(head));
  });

  test('a state that is cut apart and joined again is the same, byte by byte', () => {
    const whole = plainState(layout, [...headerIds, ...lines.flat()], { seed: 9 });
    const cuts = [0, 3, 6, 7, whole.positions.length];
    const parts = cuts.slice(1).map((end, index) => cutCells(whole, cuts[index]!, end));
    expect(joinOf(contiguous(1, parts.slice(1)), { of: parts[0]! })).toEqual(copyOf(whole));
  });
});

test('blocks may share positions, and a block that does not move keeps its bytes', () => {
  const shared = blocks.map((block) => ({ block, position: headerIds.length, alpha: 1 }));
  const joined = joinOf(shared);
  expect([...joined.tokenIds]).toEqual([...headerIds, ...lines.flat()]);
  expect([...joined.positions]).toEqual([0, 1, 2, ...lines.flatMap((ids) => ids.map((_, index) => 3 + index))]);
  let start = headerIds.length;
  for (const block of blocks) {
    const end = start + block.positions.length;
    expect(copyOf(cutCells({ ...joined, [Symbol.dispose]: () => undefined }, start, end))).toEqual(copyOf(block));
    start = end;
  }
});

test('alpha scales the values of memories, not those of the header, and no key', () => {
  const plain = joinOf(contiguous());
  const scaled = joinOf(contiguous(0.5));
  expect(scaled.keys).toEqual(plain.keys);
  const cells = plain.positions.length;
  plain.values.forEach((values, layer) => {
    const numbers = fromBytes(values, 'F16');
    const expected = numbers.map((value, index) => (index % cells < headerIds.length ? value : value / 2));
    expect([...fromBytes(scaled.values[layer]!, 'F16')]).toEqual(rounded(expected, 'F16'));
  });
});

test('cached rotated keys give the same bytes without a rotation', () => {
  const rotated = new RotatedKeyCache(2 ** 20);
  const fresh = joinOf(contiguous());
  for (let time = 1; time <= 2; time++) {
    expect(joinOf(contiguous(), { rotated })).toEqual(fresh);
    expect(rotated.sizeBytes > 0).toBe(time === 2);
  }
  // The first block is where it was computed; the others were moved.
  expect(rotated.sizeBytes).toBe((kvBytes(blocks[1]!) + kvBytes(blocks[2]!)) / 2);
  const impossible = { ...rotary, dimensions: 7 };
  expect(joinOf(contiguous(), { rotary: impossible, rotated })).toEqual(fresh);
  expect(() => joinOf(contiguous(), { rotary: impossible })).toThrow('7 of 16 dimensions');
});

test('other joins reuse the memory of a result only after it is disposed of', () => {
  const many = Array.from({ length: 200 }, () => blocks[1]!);
  const expected = joinOf(contiguous(1, [blocks[0]!]));
  const first = joinBlocks(header, contiguous(1, [blocks[0]!]), options);
  using large = joinBlocks(header, contiguous(1, many), options);
  expect(large.positions).toHaveLength(headerIds.length + 400);
  const kept = new ArenaCells(plainState(smallLayout, new Array<number>(3_000).fill(7)));
  expect(copyOf(first)).toEqual(expected);
  const address = first.keys[0]!.byteOffset;
  first[Symbol.dispose]();
  expect(() => first.keys).toThrow(new RangeError('joined KV was disposed of'));
  expect(() => first.values).toThrow('joined KV was disposed of');
  using next = joinBlocks(header, contiguous(1, [blocks[0]!]), options);
  expect(next.keys[0]!.byteOffset).toBe(address);
  kept.erase();
});

test('a join that fails gives its memory back', () => {
  const damaged = cutCells(blocks[1]!, 0, lines[1]!.length);
  damaged.keys[1]!.set([0x00, 0x7e], 6);
  const addressOf = (): number => {
    using joined = joinBlocks(header, contiguous(), options);
    return joined.keys[0]!.byteOffset;
  };
  const before = addressOf();
  expect(() => joinBlocks(header, contiguous(1, [blocks[0]!, damaged, blocks[2]!]), options)).toThrow(
    expect.objectContaining({ code: 'bad-state', message: expect.stringContaining('not finite') }),
  );
  expect(addressOf()).toBe(before);
});

test.each([1, 0.4])('blocks that are kept give the bytes of blocks that are not, times %d', (alpha) => {
  const kept = [header, ...blocks].map((state) => new ArenaCells(state));
  const plain = joinOf(contiguous(alpha));
  expect(joinOf(contiguous(alpha, kept.slice(1)), { of: kept[0]! })).toEqual(plain);
  const half = [kept[1]!, blocks[1]!, kept[3]!];
  expect(joinOf(contiguous(alpha, half))).toEqual(plain);
  kept[2]!.moveOut();
  expect(joinOf(contiguous(alpha, kept.slice(1)), { of: kept[0]! })).toEqual(plain);
  kept.forEach((state) => state.erase());
  expect(() => joinBlocks(header, contiguous(alpha, kept.slice(1)), options)).toThrow('was deleted');
});

test.each([2, 0.9])(
  'keys of blocks are divided by the temperature %d, where they are rotated and where not',
  (temperature) => {
    const warm = contiguous().map((one) => ({ ...one, temperature }));
    const rotated = new RotatedKeyCache(2 ** 20);
    const plain = joinOf(contiguous());
    // The second time rotated keys are kept, and the third time found.
    for (let time = 0; time < 3; time++) {
      using joined = joinBlocks(header, warm, { ...options, rotated });
      const rowBytes = keyRowBytes(smallLayout);
      joined.keys.forEach((keys, layer) => {
        const headerBytes = header.positions.length * rowBytes;
        expect(Buffer.compare(keys.subarray(0, headerBytes), plain.keys[layer]!.subarray(0, headerBytes))).toBe(0);
        const factor = Math.fround(1 / temperature);
        const own = fromBytes(plain.keys[layer]!.subarray(headerBytes), 'F16');
        const divided = own.map((number) => decodeHalf(encodeHalf(Math.fround(number * factor))));
        expect(fromBytes(keys.subarray(headerBytes), 'F16')).toEqual(divided);
      });
      expect(joined.values.map((values) => [...values])).toEqual(plain.values.map((values) => [...values]));
    }
  },
);

test('a part of a block is cut as the whole is', () => {
  const part = cutCells(blocks[2]!, 2, 6);
  expect([...part.tokenIds]).toEqual(lines[2]!.slice(2, 6));
  expect([...part.positions]).toEqual([5, 6, 7, 8]);
  for (let layer = 0; layer < smallLayout.layers; layer++) {
    for (let cell = 0; cell < 4; cell++) {
      expect(keysOfCell(part, layer, cell)).toEqual(keysOfCell(blocks[2]!, layer, cell + 2));
      expect(valuesOfCell(part, layer, cell)).toEqual(valuesOfCell(blocks[2]!, layer, cell + 2));
    }
  }
  expect(kvBytes(part)).toBe(4 * 2 * 2 * 16 * 2 * 2);
  for (const range of ['0 to 0', '3 to 2', '-1 to 2', '0 to 999', '0.5 to 2']) {
    const [start, end] = range.split(' to ').map(Number);
    expect(() => cutCells(blocks[2]!, start!, end!)).toThrow(`cannot cut the cells ${range}`);
  }
});

test('refuses negative positions, factors that are not finite, and other layouts', () => {
  const join = (placements: readonly BlockPlacement[]) => (): SequenceState => joinBlocks(header, placements, options);
  const below = [{ block: blocks[0]!, position: -1, alpha: 1 }];
  expect(join(below)).toThrow('a block at position -1 has cells below 0');
  expect(join(contiguous(NaN))).toThrow('alpha is NaN');
  for (const temperature of [0, -1, NaN, Infinity]) {
    const placements = contiguous().map((placement) => ({ ...placement, temperature }));
    expect(join(placements)).toThrow(`temperature is ${temperature}`);
  }
  const foreign = plainState({ ...smallLayout, valuesTransposed: false }, lines[0]!, { start: 3 });
  expect(join(contiguous(1, [foreign]))).toThrow(
    expect.objectContaining({ code: 'bad-state', message: expect.stringContaining('another layout') }),
  );
});

function rounded(numbers: Iterable<number>, type: KvLayout['keyType']): number[] {
  return [...fromBytes(toBytes(numbers, type), type)];
}
