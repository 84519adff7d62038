import { expect, test } from 'vitest';
import { cellsObstacle } from './missing-capabilities.ts';

const model = {
  architecture: 'llama',
  layers: 12,
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
  expect(cellsObstacle({ ...model, architecture }, 4096)).toBeUndefined();
});

test.each([
  [{ architecture: 'phi3' }, /architecture phi3 .*llama, qwen2, qwen3, qwen3moe/],
  [{ architecture: 'lfm2', isRecurrent: true, kvHeads: undefined }, /one state for all tokens \(recurrent\)/],
  [{ architecture: 'deepseek2', isCompressed: true, ropeScaling: 'yarn' }, /compressed vectors \(MLA\)/],
  [{ architecture: 'mamba' }, /architecture mamba/],
  [{ ropeScaling: 'yarn' }, /yarn/],
  [{ ropeScaling: 'longrope' }, /longrope/],
  [{ positionDimensions: 3 }, /positions in 3 dimensions \(M-RoPE\)/],
  [{ architecture: 'gemma2', slidingWindowTokens: 2048 }, /architecture gemma2 .*see only 2048 tokens back/],
  [{ kvHeads: undefined }, /layers differ/],
  [{ valueDimension: 16 }, /differ in size/],
])('KV of %o is not, and the reason says why', (difference, reason) => {
  expect(cellsObstacle({ ...model, ...difference }, 4096)).toMatch(reason);
});

test('cells of Gemma 3 can be moved while no session is longer than its window', () => {
  const gemma = { ...model, architecture: 'gemma3', slidingWindowTokens: 512 };
  expect(cellsObstacle(gemma, 512)).toBeUndefined();
  const why = 'its layers see only 512 tokens back (sliding window): run it with --context-tokens 512 or less';
  expect(cellsObstacle(gemma, 513)).toBe(why);
  expect(cellsObstacle({ ...gemma, architecture: 'llama' }, 512)).toBe(
    'its layers see only 512 tokens back (sliding window)',
  );
  expect(cellsObstacle({ ...gemma, layers: 5 }, 512)).toBe('all of its layers have a sliding window');
});
