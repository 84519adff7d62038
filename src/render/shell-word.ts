import { printable } from './escape-control-characters.ts';

/** Quotes a word for a shell where needed: in single quotes, or as `$'…'` if it has control characters. */
export function shellWord(word: string): string {
  if (/^[\w./:,@=-]+$/.test(word)) return word;
  if (printable(word) !== word) return `$'${printable(word.replaceAll(/['\\]/g, String.raw`\$&`))}'`;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
