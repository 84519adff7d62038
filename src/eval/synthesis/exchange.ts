import type { HistoryMessage } from '../../systems/prompt/segments.ts';

/** One turn of a conversation: what the user says, and what the assistant says to it. */
export function exchange(user: string, assistant: string): HistoryMessage[] {
  return [
    { role: 'user', content: user },
    { role: 'assistant', content: assistant },
  ];
}
