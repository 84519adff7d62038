import { html } from 'hono/html';
import { printable } from './printable.ts';

/** A piece of a page: text from data is escaped in it. */
export type Html = ReturnType<typeof html>;

/** Texts from data as a list; nothing if there are none. */
export const textList = (texts: readonly string[]): Html | string =>
  texts.length === 0
    ? ''
    : html`<ul>
        ${texts.map((text) => html`<li>${printable(text)}</li>`)}
      </ul>`;
