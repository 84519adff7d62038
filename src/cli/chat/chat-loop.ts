import { BenchError } from '../../base/bench-error.ts';
import { printable } from '../../render/escape-control-characters.ts';
import { countText } from '../../render/format-number.ts';
import { coloured, type Terminal } from '../../render/terminal-style.ts';
import type { ChatResponse } from '../../systems/memory-system.ts';
import { readChatLine } from './chat-commands.ts';
import type { ChatSession } from './chat-session.ts';

export interface ChatTerminal {
  readonly page: Terminal;
  lines(): AsyncIterable<string>;
  write(text: string): void;
  prompt(): void;
  stoppable<Result>(run: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
}

/** Chats until the lines end or the user quits; a mistake is reported, and the chat continues. */
export async function chatLoop(session: ChatSession, terminal: ChatTerminal): Promise<void> {
  terminal.prompt();
  for await (const line of terminal.lines()) {
    try {
      const read = readChatLine(line);
      if (read.kind === 'quit') return;
      if (read.kind === 'command') terminal.write(await read.run(session, terminal.page));
      if (read.kind === 'text') await answer(session, read.text, terminal);
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      terminal.write(`error: ${printable(error.message)}\n  hint: ${printable(error.hint)}\n`);
    }
    terminal.prompt();
  }
}

async function answer(session: ChatSession, question: string, terminal: ChatTerminal): Promise<void> {
  const gray = (line: string) => terminal.write(`${coloured(line, 'gray', terminal.page)}\n`);
  let written = '';
  const append = (whole: string): void => {
    // The end of the text may change while a character of several tokens is incomplete.
    if (!whole.startsWith(written)) return;
    terminal.write(shown(whole.slice(written.length)));
    written = whole;
  };
  const response = await terminal.stoppable((signal) =>
    session.ask(question, { signal, onText: append }).catch((error: unknown) => {
      // Stopped during prefill, so that there is no answer.
      if (signal.aborted && error === signal.reason) return undefined;
      throw error;
    }),
  );
  if (response === undefined) {
    gray('stopped');
    return;
  }
  if (response.text.startsWith(written)) append(response.text);
  else terminal.write(`\n${shown(response.text)}`);
  terminal.write('\n');
  gray(costLine(response));
}

/** Text from the model, with visible control characters in every line. */
function shown(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** The cost of an answer in one line: time to first token, token counts, memories, use of the KV cache, warnings. */
function costLine({ timings, tokens, memoriesUsed, trace, promptInfo }: ChatResponse): string {
  const { prompt, kvResident, evaluated, generated } = tokens;
  const cache = { miss: ', cache miss', hit: ', cache hit', bypass: '' }[trace.account.cache];
  return [
    `TTFT ${timings.firstToken.toFixed(1)} ms`,
    `${prompt} prompt, ${kvResident} KV, ${evaluated} evaluated, ${generated} generated`,
    `${countText(memoriesUsed.length, 'memory', 'memories')}${cache}`,
    ...(trace.answer.stop === 'aborted' ? ['stopped'] : []),
    ...promptInfo.budget.warnings,
  ].join(' · ');
}
