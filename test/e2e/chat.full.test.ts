import { expect, it } from 'vitest';
import { program, runProcess } from '../fixtures/run-process.ts';
import { TestFolder } from '../model/bench-fixture.ts';

it('ends with 0 at ^C where nothing is being answered', async () => {
  using folder = new TestFolder();
  let interrupted = false;
  const { code, stdout } = await runProcess([...program, 'chat', '--user', 'bob'], {
    cwd: folder.path,
    onStderr: (text, child) => {
      if (!interrupted && text.includes('chats with')) interrupted = child.kill('SIGINT');
    },
  });
  expect(stdout).toBe('');
  expect(code).toBe(0);
});
