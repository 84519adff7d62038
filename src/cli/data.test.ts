import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { confirm } from './data.ts';

/** Confirms by typed input, and returns the answer and the output. */
async function confirmByTyping(typed: string): Promise<{ readonly yes: boolean; readonly shown: string }> {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = new PassThrough();
  input.end(typed);
  const yes = await confirm('Fetch it?', false, 'add --yes', { input, output });
  return { yes, shown: String(output.read()) };
}

test.each([
  ['y\n', true],
  ['YES\n', true],
  ['\n', false],
  ['no\n', false],
  ['yesterday\n', false],
  ['', false],
])('%j', async (typed, yes) => {
  expect(await confirmByTyping(typed)).toEqual({ yes, shown: expect.stringContaining('Fetch it? [y/N] ') });
});

test('--yes skips the question; without a terminal the question is an error', async () => {
  const terminal = { input: new PassThrough(), output: new PassThrough() };
  expect(await confirm('Fetch it?', true, 'add --yes', terminal)).toBe(true);
  await expect(confirm('Fetch it?', false, 'add --yes', terminal)).rejects.toMatchObject({
    hint: expect.stringContaining('--yes'),
  });
  expect(terminal.output.read()).toBeNull();
});
