import { printable } from './escape-control-characters.ts';
import { countText } from './format-number.ts';

const LISTED_CHARACTERS = 120;
/** Length of an escape such as `&quot;` or `\u202e`. */
const ESCAPED_BYTES = 6;

/** Cuts a text; `left` counts the characters left out. @param most limit of the sum of the costs of its characters */
export function cutText(text: string, most: number, cost: (character: string) => number = () => 1) {
  let [end, spent] = [0, 0];
  for (const character of text) {
    spent += cost(character);
    if (spent > most) break;
    end += character.length;
  }
  return { text: text.slice(0, end), left: [...text.slice(end)].length };
}

function pageBytes(character: string): number {
  const code = character.codePointAt(0)!;
  if (code > 0x7e) return code > 0x2000 && code < 0x2070 ? ESCAPED_BYTES : Buffer.byteLength(character);
  return code < 0x20 || `<>&"'`.includes(character) ? ESCAPED_BYTES : 1;
}

/** Cuts a text to a limit in bytes of HTML, with escapes. */
export const cutForPage = (text: string, mostBytes: number) => cutText(text, mostBytes, pageBytes);

export const cutRemark = (left: number): string => `… ${countText(left, 'more character')}, all in the raw JSON`;

/** Shortens a text for a row of a list, and makes its control characters visible. */
export function listText(text: string): string {
  const cut = cutText(text, LISTED_CHARACTERS);
  return cut.left === 0 ? printable(cut.text) : `${printable(cut.text)} …`;
}
