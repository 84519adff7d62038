import { detectLanguage, knownLanguage, type Language } from '../../base/language.ts';
import type { PromptText } from '../../config/bench-config.ts';

/** What tells the language of a prompt: that of the user, else that of the question. */
export interface AskedLanguage {
  readonly language?: Language | undefined;
  readonly query: string;
}

/** A text of prompts in the language of a question; English where there is none in it. */
export function promptText(text: PromptText, { language, query }: AskedLanguage): string {
  return typeof text === 'string' ? text : text[knownLanguage(language ?? detectLanguage(query)) ?? 'en'];
}

const LINE_BREAKS = /\s*[\n\r\v\f\u0085\u2028\u2029]\s*/gu;

/** Text from outside on one line: with a line break of its own it could begin another role. */
export function oneLine(text: string): string {
  return text.replace(LINE_BREAKS, ' ');
}

/** Fills text from outside into a template, on one line. */
export function fill(template: string, content: string, label = ''): string {
  const line = oneLine(content);
  return template.replace(/\{(content|i)\}/g, (_, slot: string) => (slot === 'i' ? label : line));
}
