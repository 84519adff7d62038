import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProcess, typescript } from '../../test/fixtures/run-process.ts';

test('a soak leaves no unfinished file, and a store that is given too much keeps what its bound allows', async () => {
  const options = ['--model', 'random:tiny-llama', '--turns', '100', '--kv-bytes', '100KiB', '--store-bytes', '60MiB'];
  const { code, stdout } = await runProcess([...typescript, join(import.meta.dirname, 'soak.ts'), ...options]);
  expect(code).toBe(0);
  expect(stdout).toContain('unfinished files left: 0');
  // States of 25 MiB: two fit.
  expect(stdout).toContain('was given 4 states, 100.0 MiB: on disk at most 50.0 MiB after each');
  expect(stdout).toContain('2 evicted, 2 kept (50.0 MiB), 2 found again');
});
