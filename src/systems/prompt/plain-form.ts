import { promptTemplates } from '../../config/prompt-templates.ts';
import type { HistoryMessage } from '../../store/records/prompt-info.ts';
import { answerPrefixSegments, type PromptForm, type Segment, fill, memoryHeader } from './prompt-form.ts';

const { segments: texts } = promptTemplates;

/** `System: …\n\n` */
export function systemSegment(content: string): Segment {
  return { role: 'system', text: fill(texts.system, content) };
}

/** The empty line that ends the memories: the first segment of the suffix. */
export const memoryFooterSegment: Segment = { role: 'memoryFooter', text: texts.memoryFooter };

/** `Previous conversation:\n`, one line per message, and an empty line. */
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

/** The bench's template, which works with every model. */
export const plainForm: PromptForm = {
  name: 'plain',
  // A model without an end-of-text token would continue with the user's next line here.
  stopTexts: ['\nUser:', '\n\n'],
  segments: ({ systemPrompt, memoryHeader: header, lines, history, query, answerPrefix }) => [
    ...(systemPrompt === '' ? [] : [systemSegment(systemPrompt)]),
    ...(lines.length > 0 ? [memoryHeader(header), ...lines, memoryFooterSegment] : []),
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
  memoryFrame: (header) => [memoryHeader(header), memoryFooterSegment],
  historyFrameTokens: (messages, count) => count(historySegments(messages).filter(({ role }) => role !== 'history')),
  canStartHistory: () => true,
};
