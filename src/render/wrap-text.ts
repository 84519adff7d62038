import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

/** Stands for a space while a text is wrapped; private use, one column wide. */
const STAND_IN = '\uE000';

/** Columns of a text in a terminal: two for a Chinese character, none for a combining mark or a colour. */
export const textWidth = (text: string): number => stringWidth(text);

/** Breaks a text at spaces, and a longer word anywhere, into lines of at most `width` columns; white space at its start stays. */
export function wrapText(text: string, width: number): string[] {
  // The library drops the spaces that a line begins with.
  const lead = /^ */.exec(text)![0].slice(0, width - 1);
  const [first = '', ...rest] = wrapAnsi(STAND_IN.repeat(lead.length) + text.slice(lead.length), width, {
    hard: true,
  }).split('\n');
  return [first.replaceAll(STAND_IN, ' '), ...rest];
}

/** Puts a head in front of the first of several lines, and as many spaces in front of the others. */
export function hanging(head: string, lines: readonly string[]): string[] {
  const indent = ' '.repeat(textWidth(head));
  return lines.map((line, index) => (index === 0 ? head : indent) + line);
}

/** A text behind a head, wrapped to lines of at most `width` columns. */
export function hangingText(head: string, text: string, width: number): string[] {
  return hanging(head, wrapText(text, Math.max(16, width - textWidth(head))));
}

export function padText(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}
