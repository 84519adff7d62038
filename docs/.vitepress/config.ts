/**
 * The site that `npm run docs` builds into `build/docs`: the README as its first page, the pages of `docs`, and the API reference that
 * typedoc writes to `build/api`. It works in any folder of a server and loads nothing from elsewhere.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tex } from '@mdit/plugin-tex';
import temml from 'temml';
import { createLogger } from 'vite';
import { type DefaultTheme, defineConfig } from 'vitepress';
import { pagePath, RepositoryLinks } from './repository-links.ts';

const root = join(import.meta.dirname, '../..');
const links = new RepositoryLinks(root);

/** A page in the sidebar, under its own title. */
function item(file: string): DefaultTheme.SidebarItem {
  const [, title] = /^# (.+)$/m.exec(readFileSync(join(root, file), 'utf8'))!;
  return { text: title!.replaceAll('`', ''), link: `/${pagePath(file)}` };
}

const items = (...names: readonly string[]) => names.map((name) => item(`docs/${name}.md`));
const itemsOfFolder = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => item(`${folder}/${name}`));

const sidebar: DefaultTheme.SidebarItem[] = [
  {
    text: 'Guide',
    items: [{ text: 'Start', link: '/' }, ...items('bench', 'data', 'models', 'prompts', 'arms', 'inspect', 'library')],
  },
  { text: 'Findings', items: items('real-model', 'ladder', 'when-it-pays', 'shipped-models', 'paper', 'claims') },
  { text: 'Methods', collapsed: true, items: itemsOfFolder('docs/methods') },
  { text: 'Proof', items: items('checks', 'exactness', 'statistics') },
  { text: 'Engines and scale', items: items('engines', 'serving', 'traces', 'scale', 'retrieval') },
  { text: 'Reference', items: items('results', 'metrics', 'glossary', 'licences') },
  {
    text: 'API',
    collapsed: true,
    items: JSON.parse(readFileSync(join(root, 'build/api/typedoc-sidebar.json'), 'utf8')) as DefaultTheme.SidebarItem[],
  },
  {
    text: 'Development',
    items: [
      item('docs/architecture.md'),
      item('CONTRIBUTING.md'),
      item('scripts/train/README.md'),
      item('CHANGELOG.md'),
    ],
  },
  { text: 'Decisions', collapsed: true, items: itemsOfFolder('docs/adr') },
];

/** `From which length on?` → `from-which-length-on` */
function headingAnchor(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

const customLogger = createLogger('warn');
customLogger.warn = (message) => {
  throw new Error(message);
};

export default defineConfig({
  title: 'dki-bench',
  description: 'RAG compared with injected KV caches, on the same memories, model and questions',
  base: './',
  srcDir: '..',
  srcExclude: [
    '!(docs|models|scripts|build|reports)/**/*',
    'scripts/!(train)/**',
    'build/!(api)/**',
    'reports/!(reference)/**',
  ],
  rewrites: pagePath,
  outDir: '../build/docs',
  cacheDir: '../build/vitepress',
  // Otherwise VitePress reads every config.ts of the repository.
  additionalConfig: {},
  markdown: {
    // As hosts of Git do, so that links to headings lead to them there and here.
    anchor: { slugify: headingAnchor },
    config: (markdown) => {
      markdown.use(links.plugin);
      markdown.use(tex, {
        render: (formula, displayMode) =>
          temml.renderToString(formula, { displayMode, throwOnError: true }).replace('<math', '<math v-pre'),
      });
    },
  },
  themeConfig: {
    sidebar,
    outline: [2, 3],
    search: {
      provider: 'local',
      // Tables of numbers are not searched.
      options: {
        _render: (source, env: { path: string }, markdown) =>
          env.path.startsWith(join(root, 'reports')) ? '' : markdown.renderAsync(source, env),
      },
    },
    nav: [
      { text: 'Start', link: '/' },
      { text: 'API', link: '/api/' },
    ],
  },
  vite: { customLogger, build: { chunkSizeWarningLimit: 10_000 } },
  buildEnd: ({ outDir }) => links.copyFiles(outDir),
});
