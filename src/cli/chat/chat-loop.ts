import { BenchError, didYouMean } from '../../base/bench-error.ts';
import { printable } from '../../render/escape-control-characters.ts';
import { countText } from '../../render/format-number.ts';
import { coloured, hangingText, padText, type Terminal, textWidth } from '../../render/terminal-text.ts';
import type { ChatResponse } from '../../systems/memory-system.ts';
import type { ChatSession } from './chat-session.ts';
import { printTurn } from '../../viewer/turn/print-turn.ts';

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
    ...(trace.retrieval?.flags ?? [])
      .filter(({ flag }) => flag === 'failed' || flag === 'degraded')
      .map(({ reason }) => `retrieval: ${printable(reason)}`),
    ...promptInfo.budget.warnings,
  ].join(' · ');
}

interface ChatCommand {
  /** Placeholder of the argument in the help, in brackets if it is optional. */
  readonly argument?: string;
  readonly help: string;
  /** Returns the output as complete lines. */
  readonly run: (session: ChatSession, argument: string, page: Terminal) => Promise<string> | string;
}

type ChatLine =
  | { readonly kind: 'nothing' | 'quit' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'command'; readonly run: (session: ChatSession, page: Terminal) => Promise<string> };

const commands: Readonly<Record<string, ChatCommand>> = {
  '/remember': { argument: 'TEXT', help: 'add a memory; /remember --preference TEXT: a preference', run: remember },
  '/memories': { help: 'list the memories', run: memoryList },
  '/forget': { argument: 'ID', help: 'delete a memory, its KV, and the turns that used or repeat it', run: forget },
  '/arm': { argument: '[NAME]', help: 'show the arm that answers, or change it', run: switchArm },
  '/prompt': { help: 'show the last turn, with the prompt as the model got it', run: lastTurn },
  '/help': { help: 'show this list', run: help },
};

/** Reads a line of a user. @throws BenchError `bad-option` for an unknown command, or one without its argument */
export function readChatLine(line: string): ChatLine {
  const text = line.trim();
  if (text === '') return { kind: 'nothing' };
  if (text.startsWith('//')) return { kind: 'text', text: text.slice(1) };
  if (!text.startsWith('/')) return { kind: 'text', text };
  const [name] = /^\S+/.exec(text)!;
  if (name === '/quit') return { kind: 'quit' };
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  const known = [...Object.keys(commands), '/quit'];
  if (command === undefined) {
    const hint = `/help lists all; to send a text that begins with /, write two: /${text.slice(0, 20)}`;
    throw new BenchError('bad-option', `there is no command ${name}${didYouMean(name, known)}`, hint);
  }
  const { argument: wanted = '', help: does } = command;
  const argument = text.slice(name.length).trim();
  if (argument === '' && /^[A-Z]/.test(wanted)) {
    throw new BenchError('bad-option', `${name} needs ${wanted}`, `${name} ${wanted}: ${does}`);
  }
  return { kind: 'command', run: async (session, page) => command.run(session, argument, page) };
}

const preferenceMark = /^--preference(?:\s+|$)/;

async function remember(session: ChatSession, argument: string): Promise<string> {
  const preference = preferenceMark.test(argument);
  const text = argument.replace(preferenceMark, '');
  if (text === '') throw new BenchError('bad-option', '/remember --preference needs TEXT', 'say what you prefer');
  const memoryId = await (await session.memories()).add(text, { preference });
  return `remembered as ${memoryId}${preference ? ', a preference' : ''}\n`;
}

async function forget(session: ChatSession, memoryId: string): Promise<string> {
  const { messages, kvEntries } = await session.forget(memoryId);
  const deleted = `${countText(messages, 'message')} and ${countText(kvEntries, 'entry', 'entries')} of KV`;
  return `forgot ${printable(memoryId)}; deleted ${deleted}\n`;
}

async function switchArm(session: ChatSession, name: string): Promise<string> {
  if (name === '') return `${session.arm}\n`;
  await session.switchArm(name);
  return `now ${session.arm}\n`;
}

async function memoryList(session: ChatSession, _argument: string, page: Terminal): Promise<string> {
  const stored = (await session.memories()).list();
  if (stored.length === 0) return 'no memories yet; add one: /remember TEXT\n';
  const columns = Math.max(...stored.map(({ memoryId }) => textWidth(printable(memoryId)))) + 2;
  const lines = stored.flatMap(({ memoryId, content, metadata }) => {
    const text = `${printable(content)}${metadata['preference'] === true ? ' (preference)' : ''}`;
    return hangingText(padText(printable(memoryId), columns), text, page.width);
  });
  return lines.map((line) => `${line}\n`).join('');
}

async function lastTurn(session: ChatSession, _argument: string, page: Terminal): Promise<string> {
  const turn = await session.lastTurn();
  return turn === undefined ? 'there is no turn to show\n' : printTurn('chat', turn, page, { unjudged: true });
}

function help(): string {
  const rows = [
    ...Object.entries(commands).map(([name, { argument = '', help: text }]) => [`${name} ${argument}`, text] as const),
    ['/quit', 'end the chat'] as const,
    ['//TEXT', 'a text that begins with /'] as const,
  ];
  return rows.map(([usage, text]) => `${padText(usage, 16)}${text}\n`).join('');
}
