import { BenchError } from '../../base/bench-error.ts';
import { printable } from '../../render/printable.ts';
import { coloured, type Page } from '../../render/terminal.ts';
import type { ChatResponse } from '../../systems/contracts.ts';
import { readChatLine } from './chat-commands.ts';
import type { ChatSession } from './chat-session.ts';

/** Input and output of a chat. */
export interface ChatTerminal {
  readonly lines: AsyncIterable<string>;
  readonly write: (text: string) => void;
  readonly page: Page;
  /** Called before each line. */
  readonly prompt: () => void;
  /** Runs an answer with a signal that stops it. */
  readonly answering: (answer: (signal: AbortSignal) => Promise<void>) => Promise<void>;
}

/** Chats until the lines end or the user quits; a mistake is reported, and the chat continues. */
export async function chatLoop(session: ChatSession, terminal: ChatTerminal): Promise<void> {
  const { lines, write, page, prompt } = terminal;
  prompt();
  for await (const line of lines) {
    try {
      const asked = readChatLine(line);
      if (asked.kind === 'quit') return;
      if (asked.kind === 'command') write(await asked.run(session, page));
      if (asked.kind === 'text') await terminal.answering((signal) => answer(session, asked.text, signal, terminal));
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      write(`error: ${printable(error.message)}\n  hint: ${printable(error.hint)}\n`);
    }
    prompt();
  }
}

/** Writes the answer as it is generated, then its cost. */
async function answer(
  session: ChatSession,
  text: string,
  signal: AbortSignal,
  { write, page }: ChatTerminal,
): Promise<void> {
  let written = '';
  const append = (whole: string): void => {
    // A character of several tokens may change the end of the text.
    if (!whole.startsWith(written)) return;
    write(shown(whole.slice(written.length)));
    written = whole;
  };
  const response = await session.ask(text, { signal, onText: append }).catch((error: unknown) => {
    // Ended while KV was computed: there is no answer yet.
    if (signal.aborted && error === signal.reason) return undefined;
    throw error;
  });
  if (response === undefined) {
    write(`${coloured('stopped', 'gray', page)}\n`);
    return;
  }
  if (response.text.startsWith(written)) append(response.text);
  else write(`\n${shown(response.text)}`);
  write(`\n${coloured(turnLine(response), 'gray', page)}\n`);
}

/** Every line of a text from the model, with visible control characters. */
function shown(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** The cost of an answer in one line: time to first token, token counts, memories, use of the KV cache, warnings. */
function turnLine({ timings, tokens, memoriesUsed, trace, promptInfo }: ChatResponse): string {
  const memories = `${memoriesUsed.length} ${memoriesUsed.length === 1 ? 'memory' : 'memories'}`;
  const cache = { miss: ', cache miss', hit: ', cache hit', bypass: '' }[trace.account.cache];
  const counts = [
    `${tokens.prompt} prompt`,
    `${tokens.kvResident} KV`,
    `${tokens.evaluated} evaluated`,
    `${tokens.generated} generated`,
  ];
  const more = [...(trace.answer.stop === 'aborted' ? ['stopped'] : []), ...promptInfo.budget.warnings];
  return [`TTFT ${timings.firstToken.toFixed(1)} ms`, counts.join(', '), memories + cache, ...more].join(' · ');
}
