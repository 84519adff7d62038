import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { withTables } from './readme-tables.ts';

test('the tables of the README are those of the reports: else run `npm run readme:tables`', async () => {
  const readme = readFileSync(resolve(import.meta.dirname, '../README.md'), 'utf8');
  expect(await withTables(readme)).toBe(readme);
});

test('each table names the vector search behind it', () => {
  const readme = readFileSync(resolve(import.meta.dirname, '../README.md'), 'utf8');
  const drawn = readme.split('<!-- table ').slice(1);
  // A sentence beside the tables.
  const tables = drawn.filter((text) => !text.startsWith('finding '));
  expect(tables).toHaveLength(6);
  for (const table of tables) {
    expect(table.split('<!-- end ')[0]).toMatch(/\n\nVector search: (?:faiss|usearch|typescript)\S* [^\n]+\.\n\n$/);
  }
});

test('a README without a place for a table is refused', async () => {
  await expect(withTables('# dki-bench\n')).rejects.toThrow('README.md: no <!-- table finding -->');
});
