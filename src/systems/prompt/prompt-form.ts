import type { HistoryMessage } from '../../store/records/prompt-info.ts';
import { answerPrefixSegments, type FormName } from './answer-prefix.ts';
import type { Segment } from './segments.ts';
import {
  forcedSegments,
  historyMessageSegment,
  historySegments,
  memoryFooterSegment,
  memoryHeaderOf,
  querySegments,
  systemSegment,
} from './segments.ts';

/** The parts of a prompt after selection. */
export interface FormParts {
  readonly systemPrompt: string;
  /** The memory lines, in order. */
  readonly lines: readonly Segment[];
  /** In order of time. */
  readonly history: readonly HistoryMessage[];
  readonly query: string;
  /** The beginning of the answer; empty without one. */
  readonly answerPrefix: string;
}

/** Turns the parts of a prompt into segments: with the bench's own template, or with a model's chat template. */
export interface PromptForm {
  readonly name: FormName;
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
  /** True where the messages that are kept may begin with this one. */
  mayBegin(message: HistoryMessage): boolean;
}

/** The bench's own template, which every model can read. @param memoryHeader the line above the memories, where it is not the usual one */
export function plainFormWith(memoryHeader?: string): PromptForm {
  const header = memoryHeaderOf(memoryHeader);
  return {
    name: 'plain',
    // Where a model that knows no end-of-text would start to write the user's next line.
    stopTexts: ['\nUser:', '\n\n'],
    segments: ({ systemPrompt, lines, history, query, answerPrefix }) => [
      ...(systemPrompt === '' ? [] : [systemSegment(systemPrompt)]),
      ...(lines.length > 0 ? [header, ...lines, memoryFooterSegment] : []),
      ...historySegments(history),
      ...querySegments(query),
      ...answerPrefixSegments('plain', answerPrefix),
    ],
    forced: (query, answerPrefix) => [...forcedSegments(query), ...answerPrefixSegments('plain', answerPrefix)],
    system: systemSegment,
    message: historyMessageSegment,
    memoryFrame: [header, memoryFooterSegment],
    historyFrameTokens: (messages, count) =>
      count(historySegments(messages).filter((segment) => segment.role !== 'history')),
    mayBegin: () => true,
  };
}

/** That template as it ships. */
export const plainForm = plainFormWith();
