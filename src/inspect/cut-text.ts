import { groupedNumber } from './grouped-number.ts';

/** The beginning of a text, and how many characters of it are left out. */
export interface CutText {
  readonly text: string;
  readonly left: number;
}

/**
 * As much of a text as costs at most `most`, by code point and never the half of one; by itself a character costs 1.
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

/** What stands where a text was cut. */
export function cutWords(left: number): string {
  return `… ${groupedNumber(left)} more character${left === 1 ? '' : 's'}, whole in the raw JSON`;
}
