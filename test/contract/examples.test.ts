import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { type CodeExample, errorsOfExamples, examplesOfMarkdown, examplesOfSource } from '../fixtures/code-examples.ts';

const root = join(import.meta.dirname, '../..');

/** Files below a folder, by the end of their names; paths from the root. */
const filesBelow = (folder: string, ending: RegExp) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();

const examplesIn = (paths: readonly string[], examplesOf: (path: string, text: string) => CodeExample[]) =>
  paths.flatMap((path) => examplesOf(path, readFileSync(join(root, path), 'utf8')));

/** Some that do not compile. */
const planted = (() => {
  const source = [
    '/**',
    ' * Opens a database.',
    ' *',
    ' * @example',
    ' * using database = openDatabase({ path: 5 });',
    ' * @throws BenchError',
    ' */',
    'export function f() {}',
    '/** @example const [text, count]: [string, number] = [noName, 1]; */',
  ].join('\n');
  const text = '# Title\n\n```ts\nimport { BenchError } from "dki-bench";\n\nBenchError.nothing();\n```\n';
  return [
    ...examplesOfSource('src/config/planted.ts', source),
    ...examplesOfMarkdown('docs/planted.md', text),
    ...examplesOfMarkdown('docs/planted.md', '```ts src/store/planted.ts\nimport "./nowhere.ts";\n```\n'),
  ];
})();

it('finds the examples of a text, and where they are to be compiled', () => {
  expect(planted.map(({ code }) => code.trim().split('\n')[0])).toEqual([
    'using database = openDatabase({ path: 5 });',
    'const [text, count]: [string, number] = [noName, 1];',
    'import { BenchError } from "dki-bench";',
    'import "./nowhere.ts";',
  ]);
});

it('compiles every example of a doc comment and every program of the documents; tells file and line of what does not', () => {
  const ofSources = examplesIn(filesBelow('src', /(?<!\.(?:test|bench))\.ts$/), examplesOfSource);
  const ofDocuments = examplesIn(['README.md', ...filesBelow('docs', /\.md$/)], examplesOfMarkdown);
  expect(ofSources.length).toBeGreaterThan(4);
  expect(ofDocuments.map(({ shownIn }) => shownIn)).toContain('README.md');
  // In one program, which takes seconds to read; only what was planted may be found.
  expect(errorsOfExamples(root, [...ofSources, ...ofDocuments, ...planted])).toEqual([
    "src/config/planted.ts:5: Type 'number' is not assignable to type 'string'.",
    "src/config/planted.ts:9: Cannot find name 'noName'.",
    "docs/planted.md:6: Property 'nothing' does not exist on type 'typeof BenchError'.",
    expect.stringMatching(/^docs\/planted\.md:2: Cannot find module .*'\.\/nowhere\.ts'/),
  ]);
});
