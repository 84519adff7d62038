const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b' };

// Controls, directional marks and overrides, line separators, and halves of surrogate pairs.
const unprintable = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\p{Cs}]/gu;

/** Text from data, made visible: no control character reaches the terminal as one, so no data can command it. */
export function printable(text: string): string {
  return text.replace(unprintable, (character) => {
    const code = character.codePointAt(0)!.toString(16);
    return named[character] ?? (code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`);
  });
}

/** A value as indented JSON that is as safe in a terminal: what JSON lets stand in a string is escaped there, too. */
export function printableJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return `${text.replace(unprintable, (character) => {
    return character === '\n' ? character : `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`;
  })}\n`;
}
