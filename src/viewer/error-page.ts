import { html } from 'hono/html';
import { BenchError, type BenchErrorCode } from '../base/bench-error.ts';
import { printable } from '../render/printable.ts';
import type { Links } from './links.ts';
import { layout } from './page-layout.ts';

const titles = { 400: 'Bad request', 404: 'Not found', 500: 'Error' } as const;

const statuses: Readonly<Partial<Record<BenchErrorCode, 400 | 404>>> = { 'bad-option': 400, 'not-found': 404 };

/** The page of an error and its HTTP status. Any error but a `BenchError` is a bug. */
export async function errorPage(error: Error, links: Links) {
  const isKnown = error instanceof BenchError;
  const status: keyof typeof titles = (isKnown ? statuses[error.code] : undefined) ?? 500;
  const hint = isKnown ? error.hint : 'this is a bug in dki-bench; its stack is in the terminal';
  const page = await layout({
    title: titles[status],
    links,
    page: 'error',
    policy: undefined,
    breadcrumbs: [{ text: 'Runs', href: links.runs() }],
    body: html`<h1>${titles[status]}</h1>
      <p>${printable(error.message)}</p>
      <p class="soft">${printable(hint)}</p>
      <p><a href="${links.runs()}">All runs</a></p>`,
  });
  return { status, page };
}
