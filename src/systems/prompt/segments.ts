import { templates } from '../../config/templates.ts';
import type { HistoryMessage, SegmentRole } from '../../store/records/prompt-info.ts';
import { recordTitle } from '../../retrieval/history-summary.ts';
import type { MemorySearchResult } from '../../retrieval/retriever.ts';

/** A piece of the final sequence that is tokenised alone. */
export interface Segment {
  readonly role: SegmentRole;
  /** Empty for the BOS segment, which is one token and no text. */
  readonly text: string;
  /** The memory that a `memory` segment holds. */
  readonly memoryId?: string;
}

/** The label of a memory line: `[1] …`, or `- …`, which does not depend on its place. */
export type LabelStyle = 'index' | 'bullet';

/** Memories as labelled lines, or as the records of a summary in Markdown. */
export type MemoriesAs = 'lines' | 'summary';

/** Writes a memory as it stands in a prompt. @param place among the memories there, from 1 */
export type WriteLine = (memory: Pick<MemorySearchResult, 'memoryId' | 'content' | 'score'>, place: number) => Segment;

const LINE_BREAKS = /\s*[\n\r\v\f\u0085\u2028\u2029]\s*/gu;

/** Fills text from outside into a template, on one line: with a line break of its own it could begin another role. */
function fill(template: string, content: string, label = ''): string {
  const line = content.replace(LINE_BREAKS, ' ');
  return template.replace(/\{(content|i)\}/g, (_, slot: string) => (slot === 'i' ? label : line));
}

const { segments: texts } = templates;

/** `System: …\n\n` */
export function systemSegment(content: string): Segment {
  return { role: 'system', text: fill(texts.system, content) };
}

/** `Relevant information:\n` */
export const memoryHeaderSegment: Segment = { role: 'memoryHeader', text: texts.memoryHeader };

/** Another header of the memories, on a line of its own; without a text the one above. */
export function memoryHeaderOf(text?: string): Segment {
  return text === undefined ? memoryHeaderSegment : { role: 'memoryHeader', text: `${fill('{content}', text)}\n` };
}

/** The header of the memories where they stand in the system message. */
export function chatMemoryHeaderOf(text?: string): Segment {
  return { role: 'memoryHeader', text: `\n\n${memoryHeaderOf(text).text}` };
}

/** Text from outside without a word of the bench around it, on one line. */
export function contentSegment(role: 'system' | 'history' | 'query' | 'answerPrefix', content: string): Segment {
  return { role, text: fill('{content}', content) };
}

/** `[position] content\n` or `- content\n`; `position` counts from 1. */
export function memorySegment(memoryId: string, content: string, position: number, labels: LabelStyle): Segment {
  return { role: 'memory', text: fill(texts.memory[labels], content, String(position)), memoryId };
}

/** An empty line, the record's title, and the content on one line. */
const recordSegment: WriteLine = ({ memoryId, content, score }, place) => ({
  role: 'memory',
  text: fill(`\n${recordTitle(place, score)}\n{content}\n`, content),
  memoryId,
});

/** How memories are written by the rules of a prompt. */
export function lineWriter({
  labels,
  memoriesAs,
}: {
  readonly labels: LabelStyle;
  readonly memoriesAs?: MemoriesAs;
}): WriteLine {
  if (memoriesAs === 'summary') return recordSegment;
  return ({ memoryId, content }, place) => memorySegment(memoryId, content, place, labels);
}

/** The empty line that ends the memories: the first segment of the suffix. */
export const memoryFooterSegment: Segment = { role: 'memoryFooter', text: texts.memoryFooter };

/** `Previous conversation:\n`, a line per message, and an empty line; nothing without messages. */
export function historySegments(messages: readonly HistoryMessage[]): Segment[] {
  if (messages.length === 0) return [];
  return [
    { role: 'historyHeader', text: texts.historyHeader },
    ...messages.map(historyMessageSegment),
    { role: 'historyFooter', text: texts.historyFooter },
  ];
}

/** `User: …\n` or `AI: …\n` */
export function historyMessageSegment(message: HistoryMessage): Segment {
  const template = message.role === 'user' ? texts.userMessage : texts.assistantMessage;
  return { role: 'history', text: fill(template, message.content) };
}

/** `User: {query}` and `\n\nAI:` */
export function querySegments(query: string): [Segment, Segment] {
  return [
    { role: 'query', text: fill(texts.query, query) },
    { role: 'footer', text: texts.footer },
  ];
}

/** The whole prompt of a forced truncation, `User: {query}\nAI:`. */
export function forcedSegments(query: string): [Segment, Segment] {
  return [
    { role: 'query', text: fill(texts.query, query) },
    { role: 'footer', text: texts.forcedFooter },
  ];
}

/** The text of a list of segments, as `finalPrompt` shows it. */
export function joinSegments(segments: readonly Segment[]): string {
  return segments.map((segment) => segment.text).join('');
}
