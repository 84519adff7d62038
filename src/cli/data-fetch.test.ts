import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { confirm } from './data-fetch.ts';

/** Asks somebody who types that, and shows what they saw. */
async function asked(typed: string): Promise<{ readonly yes: boolean; readonly shown: string }> {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = new PassThrough();
  input.end(typed);
  const yes = await confirm('Fetch it?', false, { input, output });
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
  expect(await asked(typed)).toEqual({ yes, shown: expect.stringContaining('Fetch it? [y/N] ') });
});

test('nobody is asked with --yes, and nobody can be where there is no terminal', async () => {
  const nobody = { input: new PassThrough(), output: new PassThrough() };
  expect(await confirm('Fetch it?', true, nobody)).toBe(true);
  await expect(confirm('Fetch it?', false, nobody)).rejects.toMatchObject({ hint: expect.stringContaining('--yes') });
  expect(nobody.output.read()).toBeNull();
});
