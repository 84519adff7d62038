import { groupedNumber, printable } from '../render/printable.ts';

const listedCharacters = 120;

/** The beginning of a text, and the number of characters that are left out. */
export interface CutText {
  readonly text: string;
  readonly left: number;
}

/**
 * Cuts a text to a total cost of at most `most`, between code points.
 * @param cost of a character; 1 by default
 */
export function cutText(text: string, most: number, cost: (character: string) => number = () => 1): CutText {
  let end = 0;
  let spent = 0;
  while (end < text.length) {
    const character = String.fromCodePoint(text.codePointAt(end)!);
    spent += cost(character);
    if (spent > most) break;
    end += character.length;
  }
  let left = 0;
  for (let at = end; at < text.length; at += text.codePointAt(at)! > 0xffff ? 2 : 1) left++;
  return { text: text.slice(0, end), left };
}

/** The remark behind a text that was cut. */
export function cutWords(left: number): string {
  return `… ${groupedNumber(left)} more character${left === 1 ? '' : 's'}, all in the raw JSON`;
}

/** The beginning of a text from data as a list shows it, with visible control characters. */
export function listText(text: string): string {
  const cut = cutText(text, listedCharacters);
  return cut.left === 0 ? printable(cut.text) : `${printable(cut.text)} …`;
}
