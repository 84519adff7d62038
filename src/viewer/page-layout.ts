import { html } from 'hono/html';
import { type Html } from '../render/html.ts';
import { printable } from '../render/escape-control-characters.ts';
import { type Links } from './links.ts';
import { BenchError, type BenchErrorCode } from '../base/bench-error.ts';

export interface Page {
  /** Style and keyboard shortcuts depend on it. */
  readonly kind: 'runs' | 'run' | 'watch' | 'item' | 'turn' | 'compare' | 'error';
  readonly title: string;
  readonly body: Html;
  readonly breadcrumbs: readonly { readonly text: string; readonly href: string }[];
}

/**
 * Renders a page as an HTML document without inline style or script. Pages work without their script.
 * @param policy Content Security Policy for pages in files, which have no server to send one
 */
export async function layout({ kind, title, body, breadcrumbs }: Page, links: Links, policy?: string): Promise<string> {
  const document = await html`<!doctype html>
    <html lang="en" data-page="${kind}">
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

const titles = { 400: 'Bad request', 404: 'Not found', 500: 'Error' } as const;

const statuses: Readonly<Partial<Record<BenchErrorCode, 400 | 404>>> = { 'bad-option': 400, 'not-found': 404 };

/** The page of an error and its HTTP status. Any error but a `BenchError` is a bug. @param anyway address of what was refused */
export async function errorPage(error: Error, links: Links, anyway?: string) {
  const isKnown = error instanceof BenchError;
  const status: keyof typeof titles = (isKnown ? statuses[error.code] : undefined) ?? 500;
  const hint = isKnown ? error.hint : 'this is a bug in dki-bench; its stack is in the terminal';
  const title = titles[status];
  const body = html`<h1>${title}</h1>
    <p>${printable(error.message)}</p>
    <p class="soft">${printable(hint)}</p>
    ${anyway === undefined ? '' : html`<p><a href="${anyway}">Compare them all the same</a></p>`}
    <p><a href="${links.runs()}">All runs</a></p>`;
  const breadcrumbs = [{ text: 'Runs', href: links.runs() }];
  return { status, page: await layout({ kind: 'error', title, body, breadcrumbs }, links) };
}
