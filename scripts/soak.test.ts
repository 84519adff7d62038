import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

test('a soak leaves no scratch file, and a store that is given too much keeps what its bound allows', () => {
  const options = ['--model', 'random:tiny-llama', '--turns', '100', '--kv-bytes', '100KiB', '--store-bytes', '60MiB'];
  const tsx = join(root, 'node_modules', 'tsx', 'dist', 'cli.mjs');
  const { status, stdout } = spawnSync(process.execPath, [tsx, join(root, 'scripts', 'soak.ts'), ...options], {
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  expect(stdout).toContain('scratch files left: 0');
  // States of 25 MiB: two fit.
  expect(stdout).toContain('was given 4 states, 100.0 MiB: on disk at most 50.0 MiB after each');
  expect(stdout).toContain('2 evicted, 2 kept (50.0 MiB), 2 found again');
});
