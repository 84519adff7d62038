import { controlCharacters } from '../base/control-characters.ts';

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b' };

/** Replaces control characters by visible escapes, so that no text from data can control the terminal. */
export function printable(text: string): string {
  return text.replace(controlCharacters, (character) => {
    const code = character.codePointAt(0)!.toString(16);
    return named[character] ?? (code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`);
  });
}

/** Escapes the control characters that JSON strings may contain; keeps the line breaks of indented JSON. */
export function escapedControls(json: string): string {
  return json.replace(controlCharacters, (character) =>
    character === '\n' ? character : `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`,
  );
}

/** Renders a value as indented JSON that is safe in a terminal. */
export const printableJson = (value: unknown): string => `${escapedControls(JSON.stringify(value, null, 2))}\n`;
