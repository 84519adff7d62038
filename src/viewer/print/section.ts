import { printable } from '../../render/printable.ts';
import { padText, textWidth, wrapText } from '../../render/text-width.ts';
import { cutText, cutWords } from '../cut-text.ts';

/** A part of a printed turn: a heading and lines within the width of the page. */
export interface Section {
  readonly heading: string;
  readonly lines: readonly string[];
}

/** Longer texts are cut: they would scroll everything else away. */
const MOST_CHARACTERS = 2000;

/** A name and a text beside it; further lines are indented. */
export function beside(name: string, text: string, indent: number, width: number): string[] {
  const { text: shown, left } = cutText(text, MOST_CHARACTERS);
  const whole = left === 0 ? printable(shown) : `${printable(shown)} ${cutWords(left)}`;
  const lines = wrapText(whole, Math.max(16, width - indent));
  return lines.map((line, index) => padText(index === 0 ? name : '', indent) + line);
}

/** Cuts a text to so many columns. */
export function shortened(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let shown = '';
  for (const character of text) {
    if (textWidth(shown + character) > columns - 1) break;
    shown += character;
  }
  return `${shown}…`;
}

/** Part of a bar of so many columns; start and length are shares of the whole. Any share takes at least one column. */
export function barOf(start: number, share: number, columns: number, mark = '█'): string {
  const from = Math.min(columns - 1, Math.round(start * columns));
  const length = Math.max(1, Math.min(columns - from, Math.round(share * columns)));
  return ' '.repeat(from) + mark.repeat(length);
}
