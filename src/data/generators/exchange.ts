import type { HistoryMessage } from '../schema.ts';

/** One turn of a conversation: a message of the user and the assistant's reply. */
export function exchange(user: string, assistant: string): HistoryMessage[] {
  return [
    { role: 'user', content: user },
    { role: 'assistant', content: assistant },
  ];
}
