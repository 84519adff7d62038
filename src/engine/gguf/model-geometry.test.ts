import { expect, it } from 'vitest';
import { fileGeometry, shapeGeometry } from './model-geometry.ts';
import { randomModelPath } from './random-model/random-model.ts';

it('gives the sizes of Llama 3 by name', () => {
  // Norms, which are left out, are a hundred-thousandth of the parameters.
  expect(shapeGeometry('8b').parameters).toBeCloseTo(8.0303e9, -6);
  expect(shapeGeometry('8b')).toMatchObject({ kvBytesPerToken: 131_072, operationsPerPair: 524_288 });
  expect(shapeGeometry('70b').parameters).toBeCloseTo(70.554e9, -7);
  expect(shapeGeometry('70b').kvBytesPerToken).toBe(327_680);
});

it('reads the same from the header of a file', async () => {
  const { parameters, ...shape } = shapeGeometry('small-llama');
  const file = fileGeometry(await randomModelPath('random:small-llama'));
  expect(file).toEqual({ ...shape, name: 'random:small-llama', parameters: expect.any(Number) });
  expect(file.parameters / parameters).toBeCloseTo(1, 2);
});

it('refuses unknown shapes and models without keys and values of each token', async () => {
  expect(() => shapeGeometry('7b')).toThrow('--shape: unknown shape "7b": did you mean 8b?');
  const path = await randomModelPath('random:tiny-lfm2');
  expect(() => fileGeometry(path)).toThrow('has layers with one state for all tokens');
});
