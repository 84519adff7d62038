import { expect, test } from 'vitest';
import { presetModels } from '../../models/default-models.ts';
import { readGgufFile } from './gguf-file.ts';
import { resolveModelFile } from './model-file.ts';
import { bytesOfNumbers, weightShares } from './tensor-types.ts';

test.each([
  ['F32', 0, 256, 1024],
  ['Q4_0: 16 bytes of 4 bits, a scale of two', 2, 64, 36],
  ['Q8_0: a byte a number, a scale of two', 8, 64, 68],
  ['Q4_K: 128 bytes of 4 bits, 12 of scales, two scales of these', 12, 256, 144],
  ['half a block has no bytes', 8, 48, undefined],
  ['neither has a type that is not known', 5, 32, undefined],
])('%s', (_, type, numbers, bytes) => {
  expect(bytesOfNumbers(type, numbers)).toBe(bytes);
});

test('weight shares are by bytes, largest first', () => {
  const tensors = [
    { type: 8, dimensions: [64] },
    { type: 0, dimensions: [64, 4] },
    { type: 0, dimensions: [17] },
    { type: 99, dimensions: [68] },
  ];
  const [first, second, third] = weightShares(tensors);
  expect(first).toEqual({ type: 'F32', share: 1092 / 1228 });
  expect([second, third]).toEqual([
    { type: 'Q8_0', share: 68 / 1228 },
    { type: 'type 99', share: 68 / 1228 },
  ]);
});

test.each([presetModels.model, 'random:tiny-llama'])(
  'the tensors of %s lie as far apart as they say',
  async (model) => {
    const { tensors, alignment } = readGgufFile(await resolveModelFile(model));
    const inOrder = tensors.toSorted((a, b) => a.fileOffset - b.fileOffset);
    for (const [index, { dimensions, type, fileOffset }] of inOrder.slice(0, -1).entries()) {
      const [row = 1, ...others] = dimensions;
      const bytes = others.reduce((product, size) => product * size, bytesOfNumbers(type, row)!);
      expect(inOrder[index + 1]!.fileOffset - fileOffset).toBe(Math.ceil(bytes / alignment) * alignment);
    }
  },
);
