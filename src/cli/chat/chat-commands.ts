import { BenchError } from '../../config/bench-error.ts';
import { didYouMean } from '../../config/nearest-name.ts';
import { printTurn } from '../../inspect/print/print-turn.ts';
import { printable } from '../../report/render/printable.ts';
import { padText, textWidth, wrapText } from '../../report/render/text-width.ts';
import type { Page } from '../../report/render/terminal.ts';
import type { ChatRoom } from './chat-room.ts';

/** What a command is given, and what it says, whole lines. */
type Run = (room: ChatRoom, argument: string, page: Page) => Promise<string> | string;

interface ChatCommand {
  /** Behind the name in the help; required where it has no brackets. */
  readonly argument: string;
  readonly help: string;
  readonly run: Run;
}

/** What the user's line asks for. */
export type ChatLine =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'quit' }
  | { readonly kind: 'command'; readonly run: (room: ChatRoom, page: Page) => Promise<string> };

const quit = '/quit';

const commands: Readonly<Record<string, ChatCommand>> = {
  '/remember': {
    argument: 'TEXT',
    help: 'add a memory',
    run: async (room, text) => `remembered as ${await room.memories.add(text)}\n`,
  },
  '/memories': { argument: '', help: 'list the memories', run: (room, _, page) => memoryList(room, page) },
  '/forget': { argument: 'ID', help: 'forget a memory, and all K/V that contains it', run: forget },
  '/arm': { argument: '[NAME]', help: 'say which arm answers, or switch', run: switchArm },
  '/prompt': {
    argument: '',
    help: 'show the last turn: what the model was given',
    run: (room, _, page) => lastTurn(room, page),
  },
  '/help': { argument: '', help: 'this list', run: () => help() },
};

/**
 * Reads a line of a user: a text, a command, or nothing. `//` begins a text that begins with `/`.
 * @throws BenchError `bad-option` for an unknown command, and for one without what it needs
 */
export function readChatLine(line: string): ChatLine {
  const text = line.trim();
  if (text === '') return { kind: 'nothing' };
  if (text.startsWith('//')) return { kind: 'text', text: text.slice(1) };
  if (!text.startsWith('/')) return { kind: 'text', text };
  const [name] = /^\S+/.exec(text)!;
  if (name === quit) return { kind: 'quit' };
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  const known = [...Object.keys(commands), quit];
  if (command === undefined) {
    const hint = `say /help for all; a text that begins with / is written with two: /${text.slice(0, 20)}`;
    throw new BenchError('bad-option', `there is no command ${name}${didYouMean(name, known)}`, hint);
  }
  const argument = text.slice(name.length).trim();
  if (argument === '' && /^[A-Z]/.test(command.argument)) {
    throw new BenchError(
      'bad-option',
      `${name} needs ${command.argument}`,
      `${name} ${command.argument}: ${command.help}`,
    );
  }
  return { kind: 'command', run: async (room, page) => command.run(room, argument, page) };
}

async function forget(room: ChatRoom, memoryId: string): Promise<string> {
  const entries = await room.forget(memoryId);
  const went = `${entries} ${entries === 1 ? 'entry' : 'entries'} of K/V went with it`;
  return `forgot ${printable(memoryId)}; ${went}; what was said in this conversation stays in it\n`;
}

async function switchArm(room: ChatRoom, name: string): Promise<string> {
  if (name === '') return `${room.arm}\n`;
  await room.switchArm(name);
  return `now ${room.arm}\n`;
}

function memoryList({ memories }: ChatRoom, page: Page): string {
  const stored = memories.list();
  if (stored.length === 0) return 'no memories yet; add one: /remember TEXT\n';
  const columns = Math.max(...stored.map(({ memoryId }) => textWidth(printable(memoryId)))) + 2;
  return stored
    .flatMap(({ memoryId, content }) =>
      wrapText(printable(content), Math.max(16, page.width - columns)).map(
        (line, index) => `${padText(index === 0 ? printable(memoryId) : '', columns)}${line}\n`,
      ),
    )
    .join('');
}

async function lastTurn(room: ChatRoom, page: Page): Promise<string> {
  const turn = await room.lastTurn();
  return turn === undefined ? 'there is no turn to show\n' : printTurn('chat', turn, page, { unjudged: true });
}

function help(): string {
  const rows = [
    ...Object.entries(commands).map(([name, { argument, help: text }]) => [`${name} ${argument}`, text] as const),
    [quit, 'end the chat'] as const,
    ['//TEXT', 'say a text that begins with /'] as const,
  ];
  return rows.map(([usage, text]) => `${padText(usage, 16)}${text}\n`).join('');
}
