import { expect, test } from 'vitest';
import { cellsObstacle } from './missing-capabilities.ts';

const model = {
  architecture: 'llama',
  kvHeads: 2,
  headDimension: 32,
  valueDimension: 32,
  ropeScaling: 'none',
  positionDimensions: 1,
  slidingWindowTokens: undefined,
  isRecurrent: false,
  isCompressed: false,
};

test.each(['llama', 'qwen2', 'qwen3', 'qwen3moe'])('KV of %s is supported', (architecture) => {
  expect(cellsObstacle({ ...model, architecture })).toBeUndefined();
});

test.each([
  [{ architecture: 'phi3' }, /architecture phi3 .*llama, qwen2, qwen3, qwen3moe/],
  [{ architecture: 'lfm2', isRecurrent: true, kvHeads: undefined }, /one state for all tokens \(recurrent\)/],
  [{ architecture: 'deepseek2', isCompressed: true, ropeScaling: 'yarn' }, /compressed vectors \(MLA\)/],
  [{ architecture: 'mamba' }, /architecture mamba/],
  [{ ropeScaling: 'yarn' }, /yarn/],
  [{ ropeScaling: 'longrope' }, /longrope/],
  [{ positionDimensions: 3 }, /positions in 3 dimensions \(M-RoPE\)/],
  [{ architecture: 'gemma3', slidingWindowTokens: 4096 }, /see only 4096 tokens back/],
  [{ kvHeads: undefined }, /layers differ/],
  [{ valueDimension: 16 }, /differ in size/],
])('KV of %o is not, and the reason says why', (difference, reason) => {
  expect(cellsObstacle({ ...model, ...difference })).toMatch(reason);
});
