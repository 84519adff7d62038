import { stripVTControlCharacters } from 'node:util';

const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uff60\p{Emoji_Presentation}]/u;
const empty = /[\p{Mn}\p{Me}\u200b-\u200d\ufe0f]/u;

/** Columns of a text in a terminal: two for a Chinese character, none for a combining mark or a colour. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of stripVTControlCharacters(text))
    width += wide.test(character) ? 2 : empty.test(character) ? 0 : 1;
  return width;
}

/** Breaks a text at spaces, and a longer word anywhere, into lines of at most `width` columns. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const piece of text.split(/(?<= )/u)) {
    if (line !== '' && textWidth(line + piece.trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = '';
    }
    for (const character of piece) {
      if (textWidth(line + character) > width && character !== ' ') {
        lines.push(line);
        line = '';
      }
      line += character;
    }
  }
  return [...lines, line.trimEnd()];
}

/** Pads a text with spaces to `width` columns. */
export function padText(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}
