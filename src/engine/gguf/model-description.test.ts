import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TestFolder } from '../../../test/model/bench-fixture.ts';
import { kvObstacle } from './model-description.ts';
import { checkModelFile } from './model-file.ts';

const model = {
  architecture: 'llama',
  kvHeads: 2,
  headDimension: 32,
  valueDimension: 32,
  ropeScaling: 'none',
  positionDimensions: 1,
  slidingWindowTokens: undefined,
};

test.each(['llama', 'qwen2', 'qwen3'])('KV of %s is supported', (architecture) => {
  expect(kvObstacle({ ...model, architecture })).toBeUndefined();
});

test.each([
  [{ architecture: 'gemma3' }, /architecture gemma3 .*llama, qwen2, qwen3/],
  [{ architecture: 'mamba' }, /architecture mamba/],
  [{ ropeScaling: 'yarn' }, /yarn/],
  [{ ropeScaling: 'longrope' }, /longrope/],
  [{ positionDimensions: 3 }, /positions in 3 dimensions \(M-RoPE\)/],
  [{ slidingWindowTokens: 4096 }, /see 4096 tokens back/],
  [{ kvHeads: undefined }, /layers differ/],
  [{ valueDimension: 16 }, /differ in size/],
])('KV of %o is not, and the reason says why', (difference, reason) => {
  expect(kvObstacle({ ...model, ...difference })).toMatch(reason);
});

test('refuses a file that is not there, a folder, and one larger than free memory', () => {
  using folder = new TestFolder();
  const path = folder.file('model.gguf');
  expect(() => checkModelFile(path, 1e9)).toThrow(`${path}: no such model file`);
  expect(() => checkModelFile(folder.path, 1e9)).toThrow(`${folder.path}: no such model file`);
  writeFileSync(path, Buffer.alloc(1000));
  expect(checkModelFile(path, 1000)).toBe(1000);
  expect(() => checkModelFile(path, 999)).toThrow(`${path}: 1000 bytes, and 999 bytes of memory are free`);
});
