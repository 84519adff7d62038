import type { HistoryMessage, Segment } from './segments.ts';
import {
  forcedSegments,
  historyMessageSegment,
  historySegments,
  memoryFooterSegment,
  memoryHeaderSegment,
  querySegments,
  systemSegment,
} from './segments.ts';

/** What a prompt is made of, once it is decided what goes into it. */
export interface FormParts {
  readonly systemPrompt: string;
  /** The memory lines, in order. */
  readonly lines: readonly Segment[];
  /** In order of time. */
  readonly history: readonly HistoryMessage[];
  readonly query: string;
}

/** How the parts of a prompt become segments: in the words of the bench, or in a model's own markers. */
export interface PromptForm {
  readonly name: 'plain' | 'chat';
  /** Where generation ends besides the end of text. */
  readonly stopTexts: readonly string[];
  /** What stands between the prompt and an answer that follows it. */
  readonly answerLead: string;
  /** The whole prompt. The first memory line stands behind the system prompt and its header, in front of all else. */
  segments(parts: FormParts): Segment[];
  /** The prompt of a forced truncation: the query alone. */
  forced(query: string): Segment[];
  system(content: string): Segment;
  message(message: HistoryMessage): Segment;
  /** What memories take beside their lines. */
  readonly memoryFrame: readonly Segment[];
  /** Tokens that those messages take beside their own segments. */
  historyFrameTokens(messages: readonly HistoryMessage[], count: (segments: readonly Segment[]) => number): number;
  /** Whether the messages that are kept may begin with this one. */
  mayBegin(message: HistoryMessage): boolean;
}

/** The form of seed 004, which every model can read. */
export const plainForm: PromptForm = {
  name: 'plain',
  // Where a model that knows no end-of-text would start to write the user's next line.
  stopTexts: ['\nUser:', '\n\n'],
  answerLead: ' ',
  segments: ({ systemPrompt, lines, history, query }) => [
    systemSegment(systemPrompt),
    ...(lines.length > 0 ? [memoryHeaderSegment, ...lines, memoryFooterSegment] : []),
    ...historySegments(history),
    ...querySegments(query),
  ],
  forced: forcedSegments,
  system: systemSegment,
  message: historyMessageSegment,
  memoryFrame: [memoryHeaderSegment, memoryFooterSegment],
  historyFrameTokens: (messages, count) =>
    count(historySegments(messages).filter((segment) => segment.role !== 'history')),
  mayBegin: () => true,
};
