import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** The next message of a child process. @throws Error where it ends before */
export async function nextMessage(child: ChildProcess): Promise<unknown> {
  const waiting = new AbortController();
  const next = (event: string): Promise<unknown[]> => once(child, event, { signal: waiting.signal });
  const ended = next('exit').then(() => Promise.reject(new Error('a process ended before it was measured')));
  try {
    const [message] = await Promise.race([next('message'), ended]);
    return message;
  } finally {
    waiting.abort();
  }
}
