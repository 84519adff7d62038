import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { withTables } from './readme-tables.ts';

test('the tables of the README are those of the reports: else run `npm run readme:tables`', async () => {
  const readme = readFileSync(resolve(import.meta.dirname, '../README.md'), 'utf8');
  expect(await withTables(readme)).toBe(readme);
});

test('a README without a place for a table is refused', async () => {
  await expect(withTables('# dki-bench\n')).rejects.toThrow('README.md: no <!-- table main -->');
});
