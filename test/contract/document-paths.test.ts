import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'models/README.md',
  'scripts/train/README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`),
].filter((path) => path.endsWith('.md'));

/** Every match of a pattern's first group, with its document. */
const found = (pattern: RegExp) =>
  documents.flatMap((document) =>
    [...readFileSync(join(root, document), 'utf8').matchAll(pattern)].map(([, text]) => ({ document, text: text! })),
  );
const shown = ({ document, text }: { document: string; text: string }) => `${document}: ${text}`;

it('names files that exist', () => {
  const paths = found(/`((?:src|test|scripts|datasets|docs|models)\/[\w./-]+)`/g);
  expect(paths.length).toBeGreaterThan(50);
  // A part in capitals stands for a name that the reader chooses.
  const real = paths.filter(({ text }) => !/(?:^|\/)[A-Z]{3,}(?:[/.-]|$)/.test(text));
  expect(real.filter(({ text }) => !existsSync(join(root, text))).map(shown)).toEqual([]);
});

it('links to pages that exist', () => {
  const links = found(/\]\((?!https?:|#)([^)#\s]+)/g);
  expect(links.length).toBeGreaterThan(10);
  expect(links.filter(({ document, text }) => !existsSync(join(root, dirname(document), text))).map(shown)).toEqual([]);
});

/** The anchors of a page: its headings in lower case, words joined by hyphens. */
const anchors = (path: string): string[] =>
  [
    ...readFileSync(path, 'utf8')
      .replaceAll(/^```[^]*?^```/gm, '')
      .matchAll(/^#+ (.*)$/gm),
  ]
    .map(([, heading]) => heading!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase())
    .map((heading) => heading.replaceAll(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-'));

it('links to headings that exist', () => {
  const links = found(/\]\((?!https?:)([^)\s]*#[^)\s]+)\)/g);
  expect(links.length).toBeGreaterThan(20);
  const dangling = links.filter(({ document, text }) => {
    const [page, anchor] = text.split('#') as [string, string];
    const path = join(root, page === '' ? document : join(dirname(document), page));
    return !anchors(path).includes(anchor);
  });
  expect(dangling.map(shown)).toEqual([]);
});

it('names commands that package.json has', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
  const commands = found(/npm run (?:-s )?([\w:-]+)/g);
  expect(commands.length).toBeGreaterThan(20);
  expect(commands.filter(({ text }) => !(text in scripts)).map(shown)).toEqual([]);
});

it('has every page of docs in the sidebar of the site', () => {
  const config = readFileSync(join(root, 'docs/.vitepress/config.ts'), 'utf8');
  const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  expect(pages.length).toBeGreaterThan(20);
  expect(
    pages.filter((name) => !config.includes(`'${name.slice(0, -3)}'`) && !config.includes(`docs/${name}`)),
  ).toEqual([]);
});

it('takes at most 30,000 words', () => {
  const pages = documents.filter((document) => document.startsWith('docs/'));
  const words = pages.map((document) => readFileSync(join(root, document), 'utf8').trim().split(/\s+/).length);
  expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(30_000);
});
