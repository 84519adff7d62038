import { html } from 'hono/html';
import { BenchError, type BenchErrorCode } from '../base/bench-error.ts';
import { printable } from '../render/printable.ts';
import { layout } from './layout.ts';
import type { Links } from './links.ts';

const titles = { 400: 'Not understood', 404: 'Not found', 500: 'Not readable' } as const;

const statuses: Readonly<Partial<Record<BenchErrorCode, 400 | 404>>> = { 'bad-option': 400, 'not-found': 404 };

/** The reason why a page could not be made. */
export interface Failure {
  readonly status: keyof typeof titles;
  readonly message: string;
  readonly hint: string;
}

/** Describes an error for the reader of a page; anything but a `BenchError` is a bug. */
export function failureOf(error: Error): Failure {
  if (error instanceof BenchError) {
    return { status: statuses[error.code] ?? 500, message: error.message, hint: error.hint };
  }
  return { status: 500, message: error.message, hint: 'this is a bug in dki-bench; its stack is in the terminal' };
}

/** Renders the page of an error. */
export function errorPage({ status, message, hint }: Failure, links: Links): Promise<string> {
  return layout({
    title: titles[status],
    links,
    page: 'error',
    policy: undefined,
    breadcrumbs: [{ text: 'Runs', href: links.runs() }],
    body: html`<h1>${titles[status]}</h1>
      <p>${printable(message)}</p>
      <p class="soft">${printable(hint)}</p>
      <p><a href="${links.runs()}">All runs</a></p>`,
  });
}
