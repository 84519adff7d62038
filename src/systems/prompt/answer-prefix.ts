import type { PromptText } from '../../config/bench-config.ts';
import { type AskedLanguage, type FormName, oneLine, promptText } from './prompt-form.ts';

/** The beginning of each answer that the model is given, so that it goes on from there. */
export interface AnswerPrefixRule {
  /** For every question, or each question of a language; empty for none. */
  readonly general: PromptText;
  /** None, the general one, or the item's own, and the general one where an item has none. */
  readonly use: 'none' | 'general' | 'item';
}

export const noAnswerPrefix: AnswerPrefixRule = { general: '', use: 'none' };

/** The prefix of an answer. @param own of the item, where it has one */
export function answerPrefixBy(
  { general, use }: AnswerPrefixRule,
  own: string | null | undefined,
  asked: AskedLanguage,
): string {
  if (use === 'none') return '';
  const prefix = (use === 'item' ? own : undefined) ?? promptText(general, asked);
  // White space at its end would be a token of its own, behind which no model begins a word.
  return prefix.trim();
}

/** The segment of a prefix, behind the words or the control tokens that open an answer; nothing for an empty one. */
export function answerPrefixSegments(
  form: FormName,
  prefix: string,
): { readonly role: 'answerPrefix'; readonly text: string }[] {
  return prefix === '' ? [] : [{ role: 'answerPrefix', text: oneLine(`${answerLead(form, '', '')}${prefix}`) }];
}

/** The white space between what stands in front of an answer and the answer, as the model writes it. */
export function answerLead(form: FormName, prefix: string, answer: string): string {
  if (prefix !== '') return leadBehind(prefix, answer);
  // In the plain form a space follows `AI:`; behind a chat template nothing does.
  return form === 'plain' ? ' ' : '';
}

/** An answer as a reader sees it: behind its prefix. */
export function withPrefix(prefix: string, answer: string): string {
  return prefix === '' || answer === '' ? prefix + answer : prefix + leadBehind(prefix, answer) + answer;
}

const WIDE = /[\p{Script=Han}\u3000-\u303f\uff01-\uff60]/u;
/** Belongs to the word in front of it. */
const CLOSING = /^[.,;:!?…)\]’”'%]/u;
/** Belongs to the word behind it. */
const JOINING = /[\p{Ps}\p{Pi}\p{Sc}/#@_-]$/u;

function leadBehind(prefix: string, answer: string): string {
  // A quotation mark that looks the same at both ends opens where it is odd.
  const opens = JOINING.test(prefix) || (prefix.endsWith('"') && prefix.split('"').length % 2 === 0);
  const isWide = WIDE.test([...prefix].at(-1) ?? '') || WIDE.test([...answer][0] ?? '');
  return opens || isWide || CLOSING.test(answer) ? '' : ' ';
}
