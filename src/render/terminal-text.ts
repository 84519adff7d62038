/** Texts for the terminal: colours, widths and wrapping. */
import { styleText } from 'node:util';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

/** The terminal's width in columns, and whether it shows colours. */
export interface Terminal {
  readonly width: number;
  readonly colour: boolean;
}

export function emphasised(text: string, page: Terminal): string {
  return page.colour ? styleText('bold', text, { validateStream: false }) : text;
}

export function coloured(text: string, colour: 'green' | 'red' | 'yellow' | 'cyan' | 'gray', page: Terminal): string {
  return page.colour ? styleText(colour, text, { validateStream: false }) : text;
}

/** Replaces leading spaces during wrapping: a private-use character, one column wide. */
const STAND_IN = '\uE000';

/** Width of a text in terminal columns: two for a Chinese character, none for a combining mark or a colour code. */
export const textWidth = (text: string): number => stringWidth(text);

/** Breaks a text into lines of at most `width` columns, at spaces or within a long word. Leading spaces stay. */
export function wrapText(text: string, width: number): string[] {
  // wrap-ansi drops leading spaces.
  const lead = /^ */.exec(text)![0].slice(0, width - 1);
  const [first = '', ...rest] = wrapAnsi(STAND_IN.repeat(lead.length) + text.slice(lead.length), width, {
    hard: true,
  }).split('\n');
  return [first.replaceAll(STAND_IN, ' '), ...rest];
}

/** Puts a label before the first line, and indents the others by its width. */
export function hangLines(label: string, lines: readonly string[]): string[] {
  const indent = ' '.repeat(textWidth(label));
  return lines.map((line, index) => (index === 0 ? label : indent) + line);
}

/** Wraps a text after a label, with a hanging indent, to lines of at most `width` columns. */
export function hangingText(label: string, text: string, width: number): string[] {
  return hangLines(label, wrapText(text, Math.max(16, width - textWidth(label))));
}

export function padText(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}
