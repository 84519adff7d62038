import { knownLanguage, type Language, detectLanguage } from '../../base/language.ts';
import type { PromptText } from '../../config/bench-config.ts';
import type { Engine } from '../../engine/engine.ts';
import type { TokenId } from '../../engine/token-id.ts';

/** The bench's own template, or the model's chat template. */
export type FormName = 'plain' | 'chat';

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

export interface AnswerOpening {
  readonly form: FormName;
  readonly prefix: string;
  /** Tokens of that beginning, the last of the prompt. */
  readonly prefixTokens: number;
}

export interface AnswerPlace {
  /** In place of the suffix of the turn. */
  readonly suffix: readonly TokenId[];
  /** The tokens by which the model would write the answer there. */
  readonly answer: readonly TokenId[];
}

/** The places of an answer: behind the turn's prompt, and behind the item's own prefix; one object where they are one. */
export async function answerPlaces(
  { suffix, opening }: { readonly suffix: readonly TokenId[]; readonly opening: AnswerOpening },
  { answer, ownPrefix }: { readonly answer: string; readonly ownPrefix?: string | null | undefined },
  engine: Pick<Engine, 'tokenize'>,
): Promise<Record<'asked' | 'own', AnswerPlace>> {
  const { form, prefix, prefixTokens } = opening;
  const own = ownPrefix?.trim() ?? prefix;
  const texts = [
    `${answerLead(form, prefix, answer)}${answer}`,
    `${answerLead(form, own, answer)}${answer}`,
    ...answerPrefixSegments(form, own).map(({ text }) => text),
  ];
  const [behindPrefix = [], behindOwn = [], ownIds = []] = await engine.tokenize(
    texts.map((text) => ({ text, as: 'text' })),
  );
  const asked = { suffix, answer: behindPrefix };
  if (own === prefix) return { asked, own: asked };
  return { asked, own: { suffix: [...suffix.slice(0, suffix.length - prefixTokens), ...ownIds], answer: behindOwn } };
}
