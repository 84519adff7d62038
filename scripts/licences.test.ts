import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { licencesPage } from './licences.ts';

test('the page of licences is that of the lockfile: else run `npx tsx scripts/licences.ts`', async () => {
  const page = await licencesPage();
  expect(readFileSync(resolve(import.meta.dirname, '../docs/licences.md'), 'utf8')).toBe(page);
  expect(page).not.toContain('not stated');
});
