import { Command } from 'commander';
import { BenchError } from '../base/bench-error.ts';
import { requireMinimumNode } from '../base/minimum-node-version.ts';
import { packageJson } from '../base/package-json.ts';
import { reportFailure } from './report-failure.ts';

/** A file per command, loaded when the command is called: models and figures take seconds to load. */
const commands: Readonly<Record<string, () => Promise<{ readonly declare: (command: Command) => void }>>> = {
  init: () => import('./init.ts'),
  bench: () => import('./bench.ts'),
  tables: () => import('./tables.ts'),
  compare: () => import('./compare.ts'),
  inspect: () => import('./inspect.ts'),
  chat: () => import('./chat.ts'),
  data: () => import('./data.ts'),
  models: () => import('./models.ts'),
  estimate: () => import('./estimate.ts'),
  list: () => import('./list.ts'),
  queue: () => import('./queue.ts'),
  kv: () => import('./kv.ts'),
  doctor: () => import('./doctor.ts'),
};

/** Commands of version 0.1, and their names now. */
const renamed: Readonly<Record<string, string>> = {
  search: 'data search',
  datasets: 'list datasets',
  arms: 'list arms',
  suites: 'list suites',
  metrics: 'list metrics',
  plan: 'queue plan',
  worker: 'queue worker',
  status: 'queue status',
  merge: 'queue merge',
};

export const commandNames: readonly string[] = Object.keys(commands);

export async function declareCommand(name: string, program: Command): Promise<Command> {
  const { declare } = await commands[name]!();
  const command = program.command(name);
  declare(command);
  return command;
}

/** Declares the command that is called, or all commands if it is unknown. Errors are thrown, not printed. */
async function programFor(words: readonly string[]): Promise<Command> {
  const [called = ''] = words;
  const program = new Command('dki-bench')
    .description('compares two ways of giving a language model memories of its user: as text, and as a KV cache')
    .version(packageJson.version)
    .exitOverride()
    .configureOutput({ outputError: () => undefined });
  if (called === '--version' || called === '-V') return program;
  requireMinimumNode();
  if (Object.hasOwn(renamed, called)) {
    const now = renamed[called]!;
    throw new BenchError('bad-option', `the command ${called} is now: ${now}`, `run dki-bench ${now} --help`);
  }
  const wanted = commandNames.filter((name) => !Object.hasOwn(commands, called) || name === called);
  for (const name of wanted) await declareCommand(name, program);
  return program;
}

/** Runs one command line, without the program's name, and sets the exit code. Failures go to standard error. */
export async function runProgram(words: readonly string[]): Promise<void> {
  try {
    await (await programFor(words)).parseAsync(words, { from: 'user' });
  } catch (error) {
    process.exitCode = reportFailure(error, words.includes('--debug'));
  }
}
