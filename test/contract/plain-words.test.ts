import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Files of a kind below some folders, with their texts. */
function textsOf(folders: readonly string[], kind: RegExp): { readonly file: string; readonly text: string }[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((file) => kind.test(file) && !file.includes('node_modules'))
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
}

const code = textsOf(['src', 'scripts', 'test', 'examples'], /\.tsx?$/);
const documents = [
  ...textsOf(['docs'], /\.md$/).filter(({ file }) => !file.startsWith('docs/adr')),
  { file: 'README.md', text: readFileSync(join(root, 'README.md'), 'utf8') },
];

/** Words of before, and those that the field has for them: docs/glossary.md. */
const words: Readonly<Record<string, string>> = {
  'hand-over': 'prefill strategy',
  materialisation: 'token accounting',
  'live flag': 'effect',
  'link tokens': 'recomputed tokens',
  'turned keys': 'rotated keys',
  'strange words': 'token substitution',
  'seed 00': 'the behaviour by its name, or a page of docs',
};

it.each(Object.entries(words))('nobody says "%s" where the word is "%s"', (word) => {
  const saying = [...code, ...documents].filter(({ file, text }) => {
    return !file.endsWith('plain-words.test.ts') && new RegExp(String.raw`\b${word}`, 'i').test(text);
  });
  expect(saying.map(({ file }) => file)).toEqual([]);
});

it('a doc comment opens with a noun or a verb', () => {
  const asking = code.flatMap(({ file, text }) =>
    [...text.matchAll(/\/\*\*\s+(?:\*\s+)?((?:What|Who|Where|Whether)\b.*)/g)].map(([, line]) => `${file}: ${line!}`),
  );
  expect(asking).toEqual([]);
});
