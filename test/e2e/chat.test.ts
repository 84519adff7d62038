import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { program } from '../fixtures/bench-process.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dki-chat-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A chat as a script holds it: `input` through a pipe, which stays open where `whenReady` is given. */
function chat(
  words: readonly string[],
  input: string,
  whenReady?: (child: ReturnType<typeof spawn>) => void,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, NO_COLOR: '1' };
    const child = spawn(program[0]!, [...program.slice(1), 'chat', ...words], { cwd: folder, env });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
    child.stderr.on('data', (data: Buffer) => {
      const before = stderr;
      stderr += data.toString();
      if (!before.includes('talks to') && stderr.includes('talks to')) whenReady?.(child);
    });
    child.on('error', reject).on('close', (code) => resolve({ code, stdout, stderr }));
    if (whenReady === undefined) child.stdin.end(input);
    else child.stdin.write(input);
  });
}

it('talks through a pipe until its end, and remembers until the next time', async () => {
  const first = await chat(['--user', 'ann', '--quiet'], '/remember I live in Port Dral.\n/bye\n\nWhere do I live?');
  expect(first.stderr).toBe('');
  const [remembered, error, hint, answer, took, end] = first.stdout.split('\n');
  expect(remembered).toBe('remembered as m1');
  expect(error).toMatch(/^error: there is no command \/bye/);
  expect(hint).toMatch(/^ {2}hint: say \/help/);
  expect(answer).toBe('Port Dral.');
  expect(took).toMatch(/^TTFT .* 1 hit, K\/V built$/);
  expect(end).toBe('');
  expect(first.code).toBe(0);
  const second = await chat(['--user', 'ann', '--arm', 'rag'], '/memories\n/quit\n/memories\n');
  expect(second.stdout).toBe('m1  I live in Port Dral.\n');
  expect(second.stderr).toContain('ann talks to rag, with 1 memory; /help says what can be said\n');
  expect(second.code).toBe(0);
});

it('ends with 0 at ^C where nothing is being answered', async () => {
  const { code, stdout } = await chat(['--user', 'bob'], '', (child) => child.kill('SIGINT'));
  expect(stdout).toBe('');
  expect(code).toBe(0);
});

it.each([
  [['--arm', 'dkii'], 'error: there is no arm "dkii": did you mean dki?\n'],
  [['--arm', 'dki-wrong'], 'error: arm dki-wrong cannot chat: '],
  [['--user', ' '], 'error: --user: expected a name\n'],
  [['--model', 'none.gguf'], 'error: '],
])('%j ends with 2 and two lines', async (words, message) => {
  const { code, stdout, stderr } = await chat([...words, '--quiet'], '/help\n');
  expect(stderr.slice(0, message.length)).toBe(message);
  expect(stderr).toMatch(/^error: [^\n]+\n {2}hint: [^\n]+\n$/);
  expect(stdout).toBe('');
  expect(code).toBe(2);
});
