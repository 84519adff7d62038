import { expect, test } from 'vitest';
import { kvObstacle } from './missing-capabilities.ts';

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
  [{ slidingWindowTokens: 4096 }, /see only 4096 tokens back/],
  [{ kvHeads: undefined }, /layers differ/],
  [{ valueDimension: 16 }, /differ in size/],
])('KV of %o is not, and the reason says why', (difference, reason) => {
  expect(kvObstacle({ ...model, ...difference })).toMatch(reason);
});
