import { promptTemplates } from '../../config/prompt-templates.ts';
import { recordTitle } from '../../retrieval/format-history-summary.ts';
import type { MemorySearchResult } from '../../retrieval/retriever.ts';
import type { HistoryMessage, SegmentRole } from '../../store/records/prompt-info.ts';
import { answerPrefixSegments, type FormName, oneLine } from './answer-prefix.ts';

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

/** The label of a memory line: `[1] …`, or `- …`, which does not depend on its place. */
export type LabelStyle = 'index' | 'bullet';

/** Memories as labelled lines, or as the records of a summary in Markdown. */
export type MemoriesAs = 'lines' | 'summary';

/** Writes a memory as it stands in a prompt. @param place among the memories there, from 1 */
export type WriteLine = (memory: Pick<MemorySearchResult, 'memoryId' | 'content' | 'score'>, place: number) => Segment;

/** Fills text from outside into a template, on one line. */
function fill(template: string, content: string, label = ''): string {
  const line = oneLine(content);
  return template.replace(/\{(content|i)\}/g, (_, slot: string) => (slot === 'i' ? label : line));
}

const { segments: texts } = promptTemplates;

/** `System: …\n\n` */
export function systemSegment(content: string): Segment {
  return { role: 'system', text: fill(texts.system, content) };
}

/** The line above the memories. @param text in place of `Relevant information:` */
export function memoryHeader(text?: string): Segment {
  return { role: 'memoryHeader', text: text === undefined ? texts.memoryHeader : `${oneLine(text)}\n` };
}

/** Text from outside without a word of the bench around it, on one line. */
export function contentSegment(role: 'system' | 'history' | 'query', content: string): Segment {
  return { role, text: oneLine(content) };
}

/** `[position] content\n` or `- content\n`; `position` counts from 1. */
export function memorySegment(memoryId: string, content: string, position: number, labels: LabelStyle): Segment {
  return { role: 'memory', text: fill(texts.memory[labels], content, String(position)), memoryId };
}

/** How memories are written by the rules of a prompt: a line each, or an empty line, the record's title, and the content. */
export function lineWriter(rules: { readonly labels: LabelStyle; readonly memoriesAs?: MemoriesAs }): WriteLine {
  if (rules.memoriesAs !== 'summary') {
    return ({ memoryId, content }, place) => memorySegment(memoryId, content, place, rules.labels);
  }
  return ({ memoryId, content, score }, place) => ({
    role: 'memory',
    text: fill(`\n${recordTitle(place, score)}\n{content}\n`, content),
    memoryId,
  });
}

/** The empty line that ends the memories: the first segment of the suffix. */
export const memoryFooterSegment: Segment = { role: 'memoryFooter', text: texts.memoryFooter };

/** `Previous conversation:\n`, a line per message, and an empty line; nothing without messages. */
export function historySegments(messages: readonly HistoryMessage[]): Segment[] {
  if (messages.length === 0) return [];
  return [
    { role: 'historyHeader', text: texts.historyHeader },
    ...messages.map(messageSegment),
    { role: 'historyFooter', text: texts.historyFooter },
  ];
}

/** `User: …\n` or `AI: …\n` */
function messageSegment({ role, content }: HistoryMessage): Segment {
  return { role: 'history', text: fill(role === 'user' ? texts.userMessage : texts.assistantMessage, content) };
}

/** `User: {query}` and `\n\nAI:` */
export function querySegments(query: string, footer = texts.footer): [Segment, Segment] {
  return [
    { role: 'query', text: fill(texts.query, query) },
    { role: 'footer', text: footer },
  ];
}

export function joinSegments(segments: readonly Segment[]): string {
  return segments.map(({ text }) => text).join('');
}

/** The bench's own template, which every model can read. @param headerText the line above the memories, where it is not the usual one */
function plainFormWith(headerText?: string): PromptForm {
  const header = memoryHeader(headerText);
  return {
    name: 'plain',
    withHeader: plainFormWith,
    // Where a model that knows no end-of-text would start to write the user's next line.
    stopTexts: ['\nUser:', '\n\n'],
    segments: ({ systemPrompt, lines, history, query, answerPrefix }) => [
      ...(systemPrompt === '' ? [] : [systemSegment(systemPrompt)]),
      ...(lines.length > 0 ? [header, ...lines, memoryFooterSegment] : []),
      ...historySegments(history),
      ...querySegments(query),
      ...answerPrefixSegments('plain', answerPrefix),
    ],
    // `User: {query}\nAI:`
    forced: (query, answerPrefix) => [
      ...querySegments(query, texts.forcedFooter),
      ...answerPrefixSegments('plain', answerPrefix),
    ],
    system: systemSegment,
    message: messageSegment,
    memoryFrame: [header, memoryFooterSegment],
    historyFrameTokens: (messages, count) => count(historySegments(messages).filter(({ role }) => role !== 'history')),
    canStartHistory: () => true,
  };
}

export const plainForm = plainFormWith();
