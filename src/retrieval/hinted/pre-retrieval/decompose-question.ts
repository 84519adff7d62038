import { keywordsOf } from './keywords.ts';

/** Most parts of a question. */
export const MOST_PARTS = 5;

/** End of a question or beginning of another, with the text that stays with the part before and the part after. */
interface Separator {
  readonly text: string;
  readonly before: string;
  readonly behind: string;
}

const separators: readonly Separator[] = [
  ...['?', '？', '!', '！', ';', '；', '。'].map((text) => ({ text, before: text, behind: '' })),
  ...['what', 'where', 'who', 'when', 'which', 'how'].flatMap((word) => [
    { text: `, and ${word} `, before: '', behind: `${word} ` },
    { text: ` and ${word} `, before: '', behind: `${word} ` },
  ]),
  ...['，还有', '，另外', '，以及', '，并且'].map((text) => ({ text, before: '', behind: '' })),
];

/**
 * Splits a compound question by rules into at most five parts, at ends of sentences and beginnings of other questions. Parts
 * without keywords ("do you remember?") are left out. A simple question is its only part.
 */
export function decomposeQuestion(question: string): string[] {
  let parts = [question];
  for (const separator of separators) parts = parts.flatMap((part) => split(part, separator));
  const asked = parts.map((part) => part.trim()).filter((part) => keywordsOf(part).length > 0);
  return asked.length === 0 ? [question] : asked.slice(0, MOST_PARTS);
}

function split(text: string, { text: separator, before, behind }: Separator): string[] {
  const lower = text.toLowerCase();
  // Offsets do not match if lower case has another length.
  const searched = lower.length === text.length ? lower : text;
  const parts: string[] = [];
  let from = 0;
  for (let at = searched.indexOf(separator); at !== -1; at = searched.indexOf(separator, at + separator.length)) {
    parts.push(text.slice(from, at) + before);
    from = at + separator.length - behind.length;
  }
  return [...parts, text.slice(from)];
}
