import { BenchError } from '../../config/bench-error.ts';
import { printable } from '../../report/render/printable.ts';
import { coloured, type Page } from '../../report/render/terminal.ts';
import { readChatLine } from './chat-commands.ts';
import type { ChatRoom } from './chat-room.ts';
import { turnLine } from './turn-line.ts';

/** Where a chat comes from and goes to. */
export interface ChatTerminal {
  readonly lines: AsyncIterable<string>;
  readonly write: (text: string) => void;
  readonly page: Page;
  /** Called when the next line may be said. */
  readonly prompt: () => void;
  /** Gives the signal that stops an answer, and is told when the answer is over. */
  readonly answering: (answer: (signal: AbortSignal) => Promise<void>) => Promise<void>;
}

/** Talks until the lines end or the user quits; a mistake is said, and the chat goes on. */
export async function chatLoop(room: ChatRoom, terminal: ChatTerminal): Promise<void> {
  const { lines, write, page, prompt } = terminal;
  prompt();
  for await (const line of lines) {
    try {
      const asked = readChatLine(line);
      if (asked.kind === 'quit') return;
      if (asked.kind === 'command') write(await asked.run(room, page));
      if (asked.kind === 'text') await terminal.answering((signal) => answer(room, asked.text, signal, terminal));
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      write(`error: ${printable(error.message)}\n  hint: ${printable(error.hint)}\n`);
    }
    prompt();
  }
}

/** Says the answer as it comes, then what it took. */
async function answer(room: ChatRoom, text: string, signal: AbortSignal, { write, page }: ChatTerminal): Promise<void> {
  let said = '';
  const say = (whole: string): void => {
    // What a tokenizer makes of more tokens begins with what it made of fewer, but for a character that was cut.
    if (!whole.startsWith(said)) return;
    write(shown(whole.slice(said.length)));
    said = whole;
  };
  const response = await room.ask(text, { signal, onText: say });
  if (response.text.startsWith(said)) say(response.text);
  else write(`\n${shown(response.text)}`);
  write(`\n${coloured(turnLine(response), 'gray', page)}\n`);
}

/** Every line of a text from the model, its control characters made visible. */
function shown(text: string): string {
  return text.split('\n').map(printable).join('\n');
}
