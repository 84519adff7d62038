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
  readonly lines: readonly Segment[];
  /** In order of time. */
  readonly history: readonly HistoryMessage[];
  readonly query: string;
  readonly answerPrefix: string;
}

/** Turns the parts of a prompt into segments: with the bench's own template, or with a model's chat template. */
export interface PromptForm {
  readonly name: FormName;
  /** The same form with another line above the memories. */
  withHeader(text: string): PromptForm;
  /** Texts at which generation ends, besides the end of text. */
  readonly stopTexts: readonly string[];
  /** The whole prompt. The first memory line stands right after the system prompt and the memory header. */
  segments(parts: FormParts): Segment[];
  /** The prompt of a forced truncation: the query alone, and the beginning of the answer. */
  forced(query: string, answerPrefix: string): Segment[];
  system(content: string): Segment;
  message(message: HistoryMessage): Segment;
  /** Segments around the memory lines, which memories cost besides their lines. */
  readonly memoryFrame: readonly Segment[];
  /** Tokens that those messages take beside their own segments. */
  historyFrameTokens(messages: readonly HistoryMessage[], count: (segments: readonly Segment[]) => number): number;
  /** True where the messages that are selected may begin with this one. */
  canStartHistory(message: HistoryMessage): boolean;
}

/** The line above the memories. @param text in place of `Relevant information:` */
export function memoryHeader(text?: string): Segment {
  return {
    role: 'memoryHeader',
    text: text === undefined ? promptTemplates.segments.memoryHeader : `${oneLine(text)}\n`,
  };
}

export function joinSegments(segments: readonly Segment[]): string {
  return segments.map(({ text }) => text).join('');
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

/** Fills text from outside into a template, on one line. */
export function fill(template: string, content: string, label = ''): string {
  const line = oneLine(content);
  return template.replace(/\{(content|i)\}/g, (_, slot: string) => (slot === 'i' ? label : line));
}
