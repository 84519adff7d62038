import { readFileSync } from 'node:fs';
import { html } from 'hono/html';
import { printable } from './escape-control-characters.ts';

/** Part of a page; interpolated texts are escaped. */
export type Html = ReturnType<typeof html>;

/** A style sheet or script of pages, from the folder `assets` beside `src` and `dist`. */
export const readAsset = (name: string): string =>
  readFileSync(new URL(`../../assets/${name}`, import.meta.url), 'utf8');

/** Texts as a bulleted list, with visible control characters; empty without texts. */
export const textList = (texts: readonly string[]): Html | string =>
  texts.length === 0
    ? ''
    : html`<ul>
        ${texts.map((text) => html`<li>${printable(text)}</li>`)}
      </ul>`;
