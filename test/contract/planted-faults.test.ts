import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { faults } from '../mutations/faults.ts';

it('each fault to be planted stands once in its file, so that the test of mutations plants it', () => {
  const root = join(import.meta.dirname, '../..');
  const stale = faults.filter(({ file, find }) => readFileSync(join(root, file), 'utf8').split(find).length !== 2);
  expect(stale.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
});
