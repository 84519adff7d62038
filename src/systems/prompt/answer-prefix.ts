import type { PromptText } from '../../config/bench-config.ts';
import { type QueryLanguage, type FormName, oneLine, promptText } from './prompt-form.ts';

/** Decides which words the prompt puts at the beginning of the answer; the model continues after them. */
export interface AnswerPrefixRule {
  /** One prefix for all questions, or one per language; empty for none. */
  readonly general: PromptText;
  /** No prefix, the general one, or the item's (the general one if an item has none). */
  readonly use: 'none' | 'general' | 'item';
}

export const noAnswerPrefix: AnswerPrefixRule = { general: '', use: 'none' };

/** @param itemPrefix the item's prefix, if it has one */
export function chooseAnswerPrefix(
  { general, use }: AnswerPrefixRule,
  itemPrefix: string | null | undefined,
  query: QueryLanguage,
): string {
  if (use === 'none') return '';
  const prefix = (use === 'item' ? itemPrefix : undefined) ?? promptText(general, query);
  // Trailing white space would be a separate token, after which no model begins a word.
  return prefix.trim();
}

/** The prefix as a prompt segment; none for an empty prefix. */
export function answerPrefixSegments(
  form: FormName,
  prefix: string,
): { readonly role: 'answerPrefix'; readonly text: string }[] {
  return prefix === '' ? [] : [{ role: 'answerPrefix', text: oneLine(`${answerLead(form, '', '')}${prefix}`) }];
}

/** The white space that the model writes between the end of the prompt and the answer. */
export function answerLead(form: FormName, prefix: string, answer: string): string {
  if (prefix !== '') return leadBehind(prefix, answer);
  // The plain form ends with `AI:`, so a space follows; a chat template needs none.
  return form === 'plain' ? ' ' : '';
}

/** Joins prefix and answer as a reader should see them. */
export function withPrefix(prefix: string, answer: string): string {
  return prefix === '' || answer === '' ? prefix + answer : prefix + leadBehind(prefix, answer) + answer;
}

const WIDE = /[\p{Script=Han}\u3000-\u303f\uff01-\uff60]/u;
/** Characters that follow a word without a space. */
const CLOSING = /^[.,;:!?…)\]’”'%]/u;
/** Characters that precede a word without a space. */
const JOINING = /[\p{Ps}\p{Pi}\p{Sc}/#@_-]$/u;

function leadBehind(prefix: string, answer: string): string {
  // A straight quotation mark opens a quotation if an odd number of them has been written.
  const opens = JOINING.test(prefix) || (prefix.endsWith('"') && prefix.split('"').length % 2 === 0);
  const isWide = WIDE.test([...prefix].at(-1) ?? '') || WIDE.test([...answer][0] ?? '');
  return opens || isWide || CLOSING.test(answer) ? '' : ' ';
}
