import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProcess, typescript } from '../../test/fixtures/run-process.ts';

test('a soak leaves no unfinished file', async () => {
  const options = ['--model', 'random:tiny-llama', '--turns', '100', '--kv-bytes', '100KiB'];
  const { code, stdout } = await runProcess([...typescript, join(import.meta.dirname, 'soak.ts'), ...options]);
  expect(code).toBe(0);
  expect(stdout).toContain('unfinished files left: 0');
});
