import { createInterface, type Interface } from 'node:readline';
import type { Command } from 'commander';
import type { BenchConfig } from '../config/bench-config.ts';
import { BenchError } from '../config/bench-error.ts';
import { loadBenchConfig } from '../config/load-config.ts';
import { withFetchedModels } from '../eval/run/fetch-models.ts';
import { printable } from '../report/render/printable.ts';
import { chatLoop } from './chat/chat-loop.ts';
import { ChatRoom } from './chat/chat-room.ts';
import { addConfigOptions } from './config-options.ts';
import { echoMs } from './interruption.ts';
import { pageOf } from './page.ts';
import { ProgressDisplay } from './progress.ts';

/** Those that a conversation depends on. */
const options = [
  ...(['model', 'embedder', 'retriever', 'hot', 'cold', 'coldIndex', 'recallTokens', 'preRetrieval'] as const),
  ...([
    'topK',
    'threshold',
    'labels',
    'placement',
    'template',
    'alpha',
    'reserve',
    'contextTokens',
    'threads',
  ] as const),
  ...(['kvStore', 'kvBytes', 'out', 'db', 'quiet', 'databaseEcho'] as const),
] satisfies readonly (keyof BenchConfig)[];

interface ChatFlags {
  readonly arm: string;
  readonly user: string;
  readonly session?: string;
  readonly [option: string]: unknown;
}

/** Declares `chat`. */
export function declareChat(command: Command): void {
  command.description('talk to an arm as a user whose memories it keeps; /help says what can be said');
  addConfigOptions(command, options)
    .option('--arm <name>', 'who answers', 'dki')
    .option('--user <id>', 'whose memories they are', 'me')
    .option('--session <name>', 'a conversation to begin, or to go on with (default: a new one)')
    .action(async ({ arm, user, session, ...flags }: ChatFlags) => {
      await chat(loadBenchConfig({ flags }), { arm, user, ...(session === undefined ? {} : { session }) });
    });
}

async function chat(
  config: BenchConfig,
  { arm, user, session }: Pick<ChatFlags, 'arm' | 'user' | 'session'>,
): Promise<void> {
  for (const [option, value] of [
    ['--user', user],
    ['--session', session],
  ] as const) {
    if (value?.trim() === '') throw new BenchError('bad-option', `${option}: expected a name`, 'give one, or drop it');
  }
  const setup = { arm, userId: user, ...(session === undefined ? {} : { conversation: session }) };
  // Before the models are loaded: what is said meanwhile is heard.
  using terminal = new Terminal(user);
  await using room = await opened(config, setup);
  if (!config.quiet) {
    const memories = room.memories.list().length;
    const count = `${memories} ${memories === 1 ? 'memory' : 'memories'}`;
    process.stderr.write(`${printable(user)} talks to ${room.arm}, with ${count}; /help says what can be said\n`);
  }
  await chatLoop(room, terminal);
}

async function opened(config: BenchConfig, setup: Parameters<typeof ChatRoom.open>[1]): Promise<ChatRoom> {
  using display = config.quiet ? undefined : new ProgressDisplay(process.stderr);
  const fetched = await withFetchedModels(config, { onProgress: display?.showDownload });
  display?.say('loading model, embedder and memories');
  return await ChatRoom.open(fetched, setup);
}

/** Standard input and output; ^C stops an answer, and ends the chat where there is none. */
class Terminal implements Disposable {
  readonly lines: AsyncIterable<string>;
  readonly page = pageOf(process.stdout);
  readonly #interface: Interface;
  readonly #interrupt = () => this.#onInterrupt();
  #answer: AbortController | undefined;
  #ended = false;
  #interruptedAt = -Infinity;

  constructor(user: string) {
    const terminal = process.stdin.isTTY && process.stdout.isTTY;
    const prompt = terminal ? `${printable(user)}> ` : '';
    this.#interface = createInterface({ input: process.stdin, output: process.stdout, terminal, prompt });
    const heard = this.#interface[Symbol.asyncIterator]();
    const next = async (): Promise<IteratorResult<string>> =>
      this.#ended ? { done: true, value: undefined } : await heard.next();
    this.lines = { [Symbol.asyncIterator]: () => ({ next }) };
    // At a terminal ^C is a key of the editor; elsewhere it is a signal.
    this.#interface.on('SIGINT', this.#interrupt);
    process.on('SIGINT', this.#interrupt).on('SIGTERM', this.#interrupt).on('SIGHUP', this.#interrupt);
  }

  readonly write = (text: string): void => void process.stdout.write(text);

  readonly prompt = (): void => {
    if (this.#interface.terminal) this.#interface.prompt();
  };

  readonly answering = async (answer: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    this.#answer = new AbortController();
    try {
      await answer(this.#answer.signal);
    } finally {
      this.#answer = undefined;
    }
  };

  #onInterrupt(): void {
    const now = performance.now();
    const isEcho = now - this.#interruptedAt < echoMs;
    this.#interruptedAt = now;
    if (isEcho) return;
    if (this.#answer !== undefined) {
      this.#answer.abort();
      return;
    }
    // What was said and not yet read is not answered any more.
    this.#ended = true;
    this.#interface.close();
  }

  [Symbol.dispose](): void {
    this.#interface.close();
    process.off('SIGINT', this.#interrupt).off('SIGTERM', this.#interrupt).off('SIGHUP', this.#interrupt);
  }
}
