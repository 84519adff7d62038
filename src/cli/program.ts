import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { reportFailure } from './failure.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

type Declare = (command: Command, helpIsAsked: boolean) => void | Promise<void>;

/** The verbs, each loaded when it is called, since models and figures take seconds to load. */
const verbs: Readonly<Record<string, () => Promise<Declare>>> = {
  bench: async () => (await import('./bench.ts')).declareBench,
  tables: async () => (await import('./tables.ts')).declareTables,
  compare: async () => (await import('./compare.ts')).declareCompare,
  inspect: async () => (await import('./inspect.ts')).declareInspect,
  search: async () => (await import('./search.ts')).declareSearch,
  chat: async () => (await import('./chat.ts')).declareChat,
  data: async () => (await import('./data.ts')).declareData,
  models: async () => (await import('./models.ts')).declareModels,
  arms: async () => (await import('./arms.ts')).declareArms,
  doctor: async () => (await import('./doctor.ts')).declareDoctor,
};

/** The program with the called verb, or with all verbs if there is no such verb; errors are thrown, not printed. */
async function commandLineProgram(words: readonly string[]): Promise<Command> {
  const [called] = words;
  const program = new Command('dki-bench')
    .description('compares two ways of giving a language model memories of its user: as text, and as attention K/V')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: () => undefined });
  if (called === '--version' || called === '-V') return program;
  const helpIsAsked = words.some((word) => ['help', '--help', '-h'].includes(word));
  const wanted = Object.entries(verbs).filter(([name]) => !Object.hasOwn(verbs, called ?? '') || name === called);
  for (const [name, load] of wanted) {
    const command = program.command(name);
    const declare = await load();
    await declare(command, helpIsAsked);
    command.option('--debug', 'show the stack of an error');
  }
  return program;
}

/**
 * Runs one command line, without the program's name, and sets the exit code of the process. A failure is reported on
 * standard error, never thrown.
 */
export async function runProgram(words: readonly string[]): Promise<void> {
  try {
    await (await commandLineProgram(words)).parseAsync(words, { from: 'user' });
  } catch (error) {
    process.exitCode = reportFailure(error, words.includes('--debug'));
  }
}
