import { printable } from '../report/render/printable.ts';
import { cutText } from './cut-text.ts';

const shownCharacters = 120;

/** The beginning of a text from data as a list shows it, its control characters made visible. */
export function listText(text: string): string {
  const cut = cutText(text, shownCharacters);
  return cut.left === 0 ? printable(cut.text) : `${printable(cut.text)} …`;
}
