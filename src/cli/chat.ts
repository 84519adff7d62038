import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { BenchError } from '../base/bench-error.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { selectEngine } from '../bench/select-engine.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { type BenchConfig, engineOptionNames } from '../config/bench-config.ts';
import { optionKeys } from '../config/flags-from-schema.ts';
import { resolveModelOptions } from '../eval/run/plan/resolve-model-options.ts';
import { printable } from '../render/escape-control-characters.ts';
import { countText } from '../render/format-number.ts';
import { requireSearchingRetriever } from '../retrieval/given-retriever.ts';
import { armHelp, chatArms } from './arm-help.ts';
import { chatLoop, type ChatTerminal } from './chat/chat-loop.ts';
import { ChatSession, type ChatSetup } from './chat/chat-session.ts';
import { SIGNAL_ECHO_MS } from './with-interrupt.ts';
import { addConfigOptions, type Flags, withExamples } from './options.ts';
import { terminalPage } from './output.ts';
import { ProgressDisplay } from './progress.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const OPTIONS = [
  ...optionKeys('Prompt:'),
  ...optionKeys('Retrieval:'),
  ...optionKeys('KV:'),
  ...engineOptionNames,
  ...(['model', 'engine', 'embedder', 'contextTokens', 'threads', 'out', 'db', 'quiet', 'databaseEcho'] as const),
];

type ChatFlags = Flags & Readonly<{ arm: string; user: string; session?: string }>;

export function declare(command: Command): void {
  command.description('chat with an arm; memories persist per user; /help lists the commands');
  addConfigOptions(command, OPTIONS)
    .option('--arm <name>', 'arm that answers', 'dki')
    .option('--user <id>', 'user whose memories are used', 'me')
    .option('--session <name>', 'conversation to start or continue (default: a new one)')
    .addHelpText('after', () => armHelp(chatArms()))
    .action(chat);
  withExamples(command, {
    chat: 'memories persist from one chat to the next',
    'chat --arm rag --user ann': 'with another arm, as another user',
    'chat --model smollm2-135m': 'with a model that people use',
  });
}

async function chat({ arm, user, session, ...flags }: ChatFlags): Promise<void> {
  const config = loadBenchConfig({ flags });
  requireSearchingRetriever(config.retriever);
  for (const [option, value] of Object.entries({ '--user': user, '--session': session })) {
    if (value?.trim() === '') throw new BenchError('bad-option', `${option}: expected a name`, 'give one, or drop it');
  }
  const setup = { arm, userId: user, ...(session === undefined ? {} : { conversation: session }) };
  // Opened before the models are loaded, so that lines typed meanwhile are read.
  using terminal = new Terminal(user);
  await using chatSession = await terminal.stoppable((signal) => openSession(config, setup, signal));
  if (chatSession === undefined) {
    process.exitCode = exitCodes.interrupted;
    return;
  }
  if (!config.quiet) {
    const memories = countText((await chatSession.memories()).list().length, 'memory', 'memories');
    process.stderr.write(
      `${printable(user)} chats with ${chatSession.arm}, with ${memories}; /help lists the commands\n`,
    );
  }
  await chatLoop(chatSession, terminal);
}

/** Opens the chat; undefined if ^C stopped it. */
async function openSession(config: BenchConfig, setup: ChatSetup, signal: AbortSignal) {
  using display = config.quiet ? undefined : new ProgressDisplay(process.stderr);
  const engines = selectEngine(config);
  try {
    const fetched = await resolveModelOptions(config, engines, { onProgress: display?.showDownload, signal });
    signal.throwIfAborted();
    display?.say('loading model, embedder and memories');
    const session = await ChatSession.open(fetched, setup, engines);
    if (!signal.aborted) return session;
    await session[Symbol.asyncDispose]();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return undefined;
}

/** Standard input and output; ^C stops an answer, and otherwise ends the chat. */
class Terminal implements ChatTerminal, Disposable {
  readonly page = terminalPage();
  readonly #interface;
  readonly #input;
  #answer: AbortController | undefined;
  #ended = false;
  #interruptedAt = -Infinity;

  constructor(user: string) {
    const terminal = process.stdin.isTTY && process.stdout.isTTY;
    const prompt = terminal ? `${printable(user)}> ` : '';
    this.#interface = createInterface({ input: process.stdin, output: process.stdout, terminal, prompt });
    this.#input = this.#interface[Symbol.asyncIterator]();
    // At a terminal ^C is a key of the line editor, otherwise a signal.
    this.#interface.on('SIGINT', this.#onInterrupt);
    for (const signal of SIGNALS) process.on(signal, this.#onInterrupt);
  }

  /** The lines that the user types; after ^C unread lines are dropped. */
  async *lines(): AsyncGenerator<string> {
    for await (const line of this.#input) {
      if (this.#ended) return;
      yield line;
    }
  }

  write(text: string): void {
    process.stdout.write(text);
  }

  prompt(): void {
    if (this.#interface.terminal) this.#interface.prompt();
  }

  async stoppable<Result>(run: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    this.#answer = new AbortController();
    try {
      return await run(this.#answer.signal);
    } finally {
      this.#answer = undefined;
    }
  }

  readonly #onInterrupt = (): void => {
    const now = performance.now();
    const isEcho = now - this.#interruptedAt < SIGNAL_ECHO_MS;
    this.#interruptedAt = now;
    if (isEcho) return;
    if (this.#answer !== undefined) {
      this.#answer.abort();
      return;
    }
    this.#ended = true;
    this.#interface.close();
  };

  [Symbol.dispose](): void {
    this.#interface.close();
    for (const signal of SIGNALS) process.off(signal, this.#onInterrupt);
  }
}
