import { expect, it } from 'vitest';
import { expectMistake, programIn } from '../fixtures/program-host.ts';
import { type ProcessOptions, program, runProcess } from '../fixtures/run-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const { path: folder } = temporaryFolder();
const host = programIn(folder);

/** A chat as a script holds it: its input comes through a pipe. */
const chat = (words: readonly string[], options: ProcessOptions) =>
  runProcess([...program, 'chat', ...words], { cwd: folder, ...options });

it('talks through a pipe until its end, and remembers until the next time', async () => {
  const first = await chat(['--user', 'ann', '--quiet'], {
    input: '/remember I live in Port Dral.\n/bye\n\nWhere do I live?',
  });
  expect(first.stderr).toBe('');
  const [remembered, error, hint, answer, took, end] = first.stdout.split('\n');
  expect(remembered).toBe('remembered as m1');
  expect(error).toMatch(/^error: there is no command \/bye/);
  expect(hint).toMatch(/^ {2}hint: \/help lists all/);
  expect(answer).toBe('Port Dral.');
  expect(took).toMatch(/^TTFT .* 1 memory, cache miss$/);
  expect(end).toBe('');
  expect(first.code).toBe(0);
  const second = await chat(['--user', 'ann', '--arm', 'rag'], { input: '/memories\n/quit\n/memories\n' });
  expect(second.stdout).toBe('m1  I live in Port Dral.\n');
  expect(second.stderr).toContain('ann chats with rag, with 1 memory; /help lists the commands\n');
  expect(second.code).toBe(0);
});

it.each([
  [['--arm', 'dkii'], 'error: there is no arm "dkii": did you mean dki?\n'],
  [['--arm', 'dki-wrong'], 'error: arm dki-wrong cannot chat: '],
  [['--user', ' '], 'error: --user: expected a name\n'],
  [['--model', 'none.gguf'], 'error: '],
])('%j ends with 2 and two lines', async (words, message) => {
  expectMistake(await host.run('chat', ...words, '--quiet'), message);
});

it('ends with 0 at ^C where nothing is being answered', async () => {
  let interrupted = false;
  const ended = await chat(['--user', 'bob'], {
    onStderr: (text, child) => {
      if (!interrupted && text.includes('chats with')) interrupted = child.kill('SIGINT');
    },
  });
  expect(ended).toMatchObject({ code: 0, stdout: '' });
});
