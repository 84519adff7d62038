import { resolve } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { suggestNextCommand } from './output.ts';

const usual = { out: resolve('reports'), db: resolve('reports/dki-bench.sqlite') };

beforeEach(() => vi.stubEnv('npm_lifecycle_event', undefined));
afterEach(() => vi.unstubAllEnvs());

it('names folder and database only if they are not the default', () => {
  expect(suggestNextCommand('inspect', usual, ['--run', 'a'])).toBe('npx dki-bench inspect --run a');
  const elsewhere = { out: resolve('o'), db: resolve('d.sqlite') };
  expect(suggestNextCommand('bench', elsewhere, [])).toBe('npx dki-bench bench --out o --db d.sqlite');
});

it('is written the way the program was started, with arguments quoted for the shell', () => {
  vi.stubEnv('npm_lifecycle_event', 'bench');
  expect(suggestNextCommand('bench', usual, ['--item', "it's 1; ls"])).toBe(
    String.raw`npm run bench -- --item 'it'\''s 1; ls'`,
  );
});

it('writes control characters as a shell reads them, and none to the terminal', () => {
  expect(suggestNextCommand('inspect', usual, ['--item', "a\u001b[2J'\\\n"])).toBe(
    String.raw`npx dki-bench inspect --item $'a\x1b[2J\'\\\n'`,
  );
});
