import { html } from 'hono/html';
import type { Html } from '../render/html.ts';
import { printable } from '../render/printable.ts';
import type { Links } from './links.ts';

/** The kind of a page; style and keyboard shortcuts depend on it. */
export type PageKind = 'runs' | 'run' | 'watch' | 'item' | 'turn' | 'matrix' | 'pair' | 'compare' | 'error';

export interface Layout {
  readonly title: string;
  readonly links: Links;
  readonly breadcrumbs: readonly { readonly text: string; readonly href: string }[];
  readonly body: Html;
  readonly page: PageKind;
  /** Content Security Policy for pages in files, which have no server to send one. */
  readonly policy: string | undefined;
}

/** Renders a page as an HTML document without inline style or script. Pages work without their script. */
export async function layout({ title, links, breadcrumbs, body, page, policy }: Layout): Promise<string> {
  const document = await html`<!doctype html>
    <html lang="en" data-page="${page}">
      <head>
        <meta charset="utf-8" />
        ${policy === undefined ? '' : html`<meta http-equiv="Content-Security-Policy" content="${policy}" />`}
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${printable(title)} · dki-bench</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${links.style()}" />
        <script defer src="${links.script()}"></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        ${
          breadcrumbs.length === 0
            ? ''
            : html`<header class="top">
                <nav aria-label="Breadcrumbs">
                  <ol>
                    ${breadcrumbs.map(({ text, href }) => html`<li><a href="${href}">${printable(text)}</a></li> `)}
                    <li aria-current="page">${printable(title)}</li>
                  </ol>
                </nav>
              </header>`
        }
        <main id="main" tabindex="-1">${body}</main>
        <footer class="keys">
          <p>Keys: <kbd>?</kbd></p>
        </footer>
      </body>
    </html> `;
  return `${document.toString().trimEnd()}\n`;
}
