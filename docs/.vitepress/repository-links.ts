/**
 * Relative links of a page name files of the repository, as editors and hosts of Git show them. On the site,
 *
 * - a link to a Markdown file of `pageFolders` leads to its page (VitePress fails if it has none),
 * - a link to a folder of pages leads to its first page,
 * - a link to any other file or folder leads to a copy of it below `files`; a folder gets a list of its files.
 *
 * A link to a path that does not exist fails the build.
 */
import { cpSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { extname, join, posix, relative } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';

const pageFolders = /^(?:docs|models|scripts\/train|build\/api|reports\/reference\/\w+\/tables)\/|^[A-Z]+\.md$/;

/** What a browser shows; databases and compressed files are not copied. */
const copiedTypes = new Set(['.md', '.csv', '.json', '.svg', '.tex', '.ts', '.mjs']);

/** The path of a page on the site: `docs/arms.md` → `arms.md`, `models/README.md` → `models/index.md`. */
export function pagePath(file: string): string {
  return file.replace(/^(?:docs|build)\//, '').replace(/(^|\/)README\.md$/, '$1index.md');
}

function firstPage(root: string, folder: string): string | undefined {
  const pages = readdirSync(join(root, folder)).filter((name) => name.endsWith('.md'));
  return pages.find((name) => name === 'README.md') ?? pages.sort()[0];
}

/** Links of a repository's pages, and the files that they need on the site. */
export class RepositoryLinks {
  private readonly root: string;
  private readonly copied = new Set<string>();

  /** @param root - absolute path of the repository */
  constructor(root: string) {
    this.root = root;
  }

  /** Rewrites the relative links of a page. @throws Error for a link to a path that does not exist */
  readonly plugin = (markdown: MarkdownRenderer): void => {
    markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
      const { realPath, path } = env as { realPath?: string; path: string };
      const page = relative(this.root, realPath ?? path);
      for (const link of tokens.flatMap(({ children }) => children ?? [])) {
        const target = link.type === 'link_open' ? link.attrGet('href')! : '';
        const [, file, hash] = /^(?![a-z]+:|[/#])([^#]+)(#.*)?$/i.exec(target) ?? [];
        if (file === undefined) continue;
        const { address, isPage } = this.address(page, posix.join(posix.dirname(page), decodeURI(file)));
        link.attrSet('href', address + (hash ?? ''));
        // Without a target, VitePress takes every link for a page.
        if (!isPage) link.attrSet('target', '_self');
      }
    });
  };

  private address(page: string, file: string): { address: string; isPage: boolean } {
    const path = posix.normalize(file).replace(/\/$/, '');
    if (!existsSync(join(this.root, path))) throw new Error(`${page}: link to ${path}, which does not exist`);
    const isFolder = statSync(join(this.root, path)).isDirectory();
    if (isFolder && pageFolders.test(`${path}/`)) {
      const first = firstPage(this.root, path);
      if (first !== undefined) return { address: `/${pagePath(`${path}/${first}`)}`, isPage: true };
    }
    if (!isFolder && path.endsWith('.md') && pageFolders.test(path))
      return { address: `/${pagePath(path)}`, isPage: true };
    this.copied.add(path);
    return { address: `/files/${path}${isFolder ? '/index.html' : ''}`, isPage: false };
  }

  /** Copies what pages link to. @param site - the folder of the built site */
  copyFiles(site: string): void {
    for (const path of this.copied) {
      const [from, to] = [join(this.root, path), join(site, 'files', path)];
      const isWanted = (file: string) =>
        statSync(file).isDirectory() || file === from || copiedTypes.has(extname(file));
      cpSync(from, to, { recursive: true, filter: isWanted });
      if (!statSync(from).isDirectory()) continue;
      const files = readdirSync(to, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) !== '');
      const items = files.sort().map((name) => `<li><a href="${name}">${name}</a></li>`);
      writeFileSync(
        join(to, 'index.html'),
        `<!doctype html><title>${path}</title><h1>${path}</h1><ul>${items.join('')}</ul>`,
      );
    }
  }
}
