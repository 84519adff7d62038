import { contentSegment, type Segment } from './segments.ts';

/** The bench's own template, or the model's chat template. */
export type FormName = 'plain' | 'chat';

/** The beginning of each answer that the model is given, so that it goes on from there. */
export interface AnswerPrefixRule {
  /** For every question; empty for none. */
  readonly general: string;
  /** None, the general one, or the item's own, and the general one where an item has none. */
  readonly use: 'none' | 'general' | 'item';
}

/** No beginning. */
export const noAnswerPrefix: AnswerPrefixRule = { general: '', use: 'none' };

/** The prefix of an answer. @param own of the item, where it has one */
export function answerPrefixBy({ general, use }: AnswerPrefixRule, own: string | null | undefined): string {
  if (use === 'none') return '';
  const prefix = use === 'item' ? (own ?? general) : general;
  // White space at its end would be a token of its own, behind which no model begins a word.
  return prefix.trim();
}

/** The segment of a prefix, behind the words or the control tokens that open an answer; nothing for an empty one. */
export function answerPrefixSegments(form: FormName, prefix: string): Segment[] {
  if (prefix === '') return [];
  return [contentSegment('answerPrefix', `${leadOf(form)}${prefix}`)];
}

/** The white space between what stands in front of an answer and the answer, as the model writes it. */
export function answerLead(form: FormName, prefix: string, answer: string): string {
  return prefix === '' ? leadOf(form) : leadBehind(prefix, answer);
}

/** An answer as a reader sees it: behind its prefix. */
export function withPrefix(prefix: string, answer: string): string {
  return prefix === '' || answer === '' ? prefix + answer : prefix + leadBehind(prefix, answer) + answer;
}

/** In the plain form a space follows `AI:`; behind a chat template nothing does. */
function leadOf(form: FormName): string {
  return form === 'plain' ? ' ' : '';
}

const WIDE = /[\p{Script=Han}\u3000-\u303f\uff01-\uff60]/u;
/** Belongs to the word in front of it. */
const CLOSING = /^[.,;:!?…)\]’”'%]/u;
/** Belongs to the word behind it. */
const JOINING = /[\p{Ps}\p{Pi}\p{Sc}/#@_-]$/u;

function leadBehind(prefix: string, answer: string): string {
  // A quotation mark that looks the same at both ends opens where it is odd.
  const opens = JOINING.test(prefix) || (prefix.endsWith('"') && prefix.split('"').length % 2 === 0);
  const isWide = [[...prefix].at(-1), [...answer][0]].some(
    (character) => character !== undefined && WIDE.test(character),
  );
  return opens || isWide || CLOSING.test(answer) ? '' : ' ';
}
