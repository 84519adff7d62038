import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runProcess } from '../../test/fixtures/run-process.ts';

const cwd = fileURLToPath(new URL('../..', import.meta.url));

it('a toy is trained, resumed at its last step and exported, and answers in llama.cpp as in PyTorch', async () => {
  const { code, stdout, stderr } = await runProcess(['bash', 'scripts/train/smoke.sh'], { cwd });
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('Traceback')]);
  expect(stdout).toContain('greedy answers: the same for ');
});
