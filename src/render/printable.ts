import { controlCharacters } from '../base/control-characters.ts';

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b' };

/** Replaces control characters by visible escapes, so that no text from data can control the terminal. */
export function printable(text: string): string {
  return text.replace(controlCharacters, (character) => {
    const code = character.codePointAt(0)!.toString(16);
    return named[character] ?? (code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`);
  });
}

/** A word for a shell: plain, in single quotes, or with control characters as a shell reads their escapes. */
export function shellWord(word: string): string {
  if (/^[\w./:,@=-]+$/.test(word)) return word;
  if (printable(word) !== word) return `$'${printable(word.replaceAll(/['\\]/g, String.raw`\$&`))}'`;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Escapes the control characters that JSON allows in its texts; line breaks between its parts stay. */
export function escapedControls(json: string): string {
  return json.replace(controlCharacters, (character) =>
    character === '\n' ? character : `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`,
  );
}

/** Renders a value as indented JSON that is safe in a terminal. */
export function printableJson(value: unknown): string {
  return `${escapedControls(JSON.stringify(value, null, 2))}\n`;
}

/** `1 memory`, `2 memories` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** A whole number in groups of three: `4,400`. A process's first `toLocaleString` would take longer than a page. */
export function groupedNumber(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}
