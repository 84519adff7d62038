import { expect, it } from 'vitest';
import { program, runProcess, startProcess } from '../fixtures/run-process.ts';
import { TestFolder } from '../model/bench-fixture.ts';

it('of two processes one makes a run, and the other is told which does', async () => {
  using folder = new TestFolder();
  const words = ['--out', folder.path, '--arms', 'none,rag'];
  let second: ReturnType<typeof runProcess> | undefined;
  const { child, ended } = startProcess([...program, 'bench', ...words, '--run', 'one', '--limit', '200'], {
    cwd: folder.path,
    onStderr: (stderr) => {
      if (second !== undefined || !stderr.includes(': about ')) return;
      const resume = ['bench', '--out', folder.path, '--resume', 'one', '--quiet'];
      second = runProcess([...program, ...resume], { cwd: folder.path });
    },
  });
  expect(await ended).toMatchObject({ code: 0 });
  const stderr = `error: process ${child.pid} is making run "one"\n  hint: wait for its end, or end it\n`;
  expect(await second).toEqual({ code: 2, stdout: '', stderr });
});
