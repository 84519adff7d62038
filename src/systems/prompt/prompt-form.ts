import { promptTemplates } from '../../config/prompt-templates.ts';
import { type HistoryMessage, type SegmentRole } from '../../store/records/prompt-info.ts';
import { type Language, detectLanguage, knownLanguage } from '../../base/language.ts';
import { type PromptText } from '../../config/bench-config.ts';

/** The bench's own template, or the model's chat template. */
export type FormName = 'plain' | 'chat';

export interface Segment {
  readonly role: SegmentRole;
  /** Empty for the BOS segment, which is one token and no text. */
  readonly text: string;
  readonly memoryId?: string;
}

export interface FormParts {
  readonly systemPrompt: string;
  /** The line above the memories. Default: `Relevant information:`. */
  readonly memoryHeader?: string | undefined;
  readonly lines: readonly Segment[];
  /** Oldest first. */
  readonly history: readonly HistoryMessage[];
  readonly query: string;
  readonly answerPrefix: string;
}

/** Turns the parts of a prompt into segments: with the bench's own template, or with a model's chat template. */
export interface PromptForm {
  readonly name: FormName;
  /** Texts at which generation stops, besides the end-of-text token. */
  readonly stopTexts: readonly string[];
  /** The whole prompt. The first memory line directly follows the system prompt and the memory header. */
  segments(parts: FormParts): Segment[];
  /** The prompt after a forced truncation: only the query and the answer prefix. */
  forced(query: string, answerPrefix: string): Segment[];
  system(content: string): Segment;
  message(message: HistoryMessage): Segment;
  /** Segments around the memory lines, needed only if there are memories. @param header as `FormParts.memoryHeader` */
  memoryFrame(header?: string): readonly Segment[];
  /** Tokens that messages add to the prompt besides their content, such as template text around them. */
  historyFrameTokens(messages: readonly HistoryMessage[], count: (segments: readonly Segment[]) => number): number;
  /** True if the selected history may begin with this message. */
  canStartHistory(message: HistoryMessage): boolean;
}

/** The line above the memories. @param text default: `Relevant information:` */
export function memoryHeader(text?: string): Segment {
  return {
    role: 'memoryHeader',
    text: text === undefined ? promptTemplates.segments.memoryHeader : `${oneLine(text)}\n`,
  };
}

export function joinSegments(segments: readonly Segment[]): string {
  return segments.map(({ text }) => text).join('');
}

/** Decides the language of a prompt: the user's, or else that of the query. */
export interface QueryLanguage {
  readonly language?: Language | undefined;
  readonly query: string;
}

/** The text in the language of the query, or else in English. */
export function promptText(text: PromptText, { language, query }: QueryLanguage): string {
  return typeof text === 'string' ? text : text[knownLanguage(language ?? detectLanguage(query)) ?? 'en'];
}

const LINE_BREAKS = /\s*[\n\r\v\f\u0085\u2028\u2029]\s*/gu;

/** Puts outside text on one line: with a line break, it could forge the beginning of another role's message. */
export function oneLine(text: string): string {
  return text.replace(LINE_BREAKS, ' ');
}

/** Fills outside text into a template, on one line. */
export function fill(template: string, content: string, label = ''): string {
  const line = oneLine(content);
  return template.replace(/\{(content|i)\}/g, (_, slot: string) => (slot === 'i' ? label : line));
}

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
