import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

/** Columns of a text in a terminal: two for a Chinese character, none for a combining mark or a colour. */
export const textWidth = (text: string): number => stringWidth(text);

/** Breaks a text at spaces, and a longer word anywhere, into lines of at most `width` columns. */
export function wrapText(text: string, width: number): string[] {
  return wrapAnsi(text, width, { hard: true }).split('\n');
}

/** Pads a text with spaces to `width` columns. */
export function padText(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}
