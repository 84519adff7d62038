import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { groupedNumber, printable } from '../../render/printable.ts';
import { type CutText, cutText, cutWords } from '../cut-text.ts';

/** Length of an escape such as `&quot;` or `\\u202e`. */
const ESCAPED_BYTES = 6;

/** Bytes that a character takes on a page, escaped if it must be. */
function pageBytes(character: string): number {
  const code = character.codePointAt(0)!;
  if (code > 0x7e) return code > 0x2000 && code < 0x2070 ? ESCAPED_BYTES : Buffer.byteLength(character);
  return code < 0x20 || `<>&"'`.includes(character) ? ESCAPED_BYTES : 1;
}

/** Cuts a text to at most so many bytes of a page. */
export function cutForPage(text: string, mostBytes: number): CutText {
  return cutText(text, mostBytes, pageBytes);
}

/** A text from data with visible control characters, cut to at most so many bytes of a page. */
export function shownText(text: string, mostBytes: number): Html {
  const { text: shown, left } = cutForPage(text, mostBytes);
  return html`<span class="text">${printable(shown)}</span>${cutMark(left)}`;
}

/** The remark behind a text that was cut; nothing if it was not. */
export function cutMark(left: number): Html | string {
  return left === 0 ? '' : html`<span class="left"> ${cutWords(left)}</span>`;
}

/** The remark below a list that shows its beginning alone; nothing if it shows all. */
export function leftOut(shown: number, all: number, what: string): Html | string {
  if (shown >= all) return '';
  return html`<p class="note">… ${groupedNumber(all - shown)} more ${what}, all in the raw JSON.</p>`;
}
