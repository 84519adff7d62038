import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { drawModelSizes, drawnTables, replaceTables } from './readme-tables.ts';

const textOf = (document: string): string => readFileSync(resolve(import.meta.dirname, '..', document), 'utf8');

describe.each(Object.keys(drawnTables))('%s', (document) => {
  it('has the tables of the reports: else run `npx tsx scripts/readme-tables.ts`', async () => {
    const text = textOf(document);
    expect(await replaceTables(document, text, drawnTables[document]!)).toBe(text);
  });

  it('names the vector search behind each table', () => {
    const drawn = textOf(document).split('<!-- table ').slice(1);
    // The ladder's page names those behind its findings.
    const tables = drawn.filter((text) => !text.startsWith('finding '));
    for (const table of tables) {
      expect(table.split('<!-- end ')[0]).toMatch(/\n\nVector search: (?:faiss|usearch|typescript)\S* [^\n]+\.\n\n$/);
    }
  });
});

test('the figure of the ladder is that of its reports', async () => {
  const [path, svg] = await drawModelSizes();
  expect(textOf(path)).toBe(svg);
});

test('a document without a place for a table is refused', async () => {
  await expect(replaceTables('README.md', '# dki-bench\n', drawnTables['README.md']!)).rejects.toThrow(
    'README.md: no <!-- table finding -->',
  );
});

test('the README is read in five minutes, its tables and commands included', () => {
  const words = textOf('README.md').split(/\s+/);
  expect(words.filter((word) => /\w/.test(word)).length).toBeLessThanOrEqual(1200);
});
