import { printable } from './printable.ts';

/** A word for a shell: plain, in single quotes, or with control characters as a shell reads their escapes. */
export function shellWord(word: string): string {
  if (/^[\w./:,@=-]+$/.test(word)) return word;
  if (printable(word) !== word) return `$'${printable(word.replaceAll(/['\\]/g, String.raw`\$&`))}'`;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
