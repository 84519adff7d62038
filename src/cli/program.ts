import { Command, CommanderError } from 'commander';
import { BenchError } from '../base/bench-error.ts';
import { requireMinimumNode } from '../base/minimum-node-version.ts';
import { packageJson } from '../base/package-json.ts';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes } from '../base/exit-codes.ts';
import { escapedControls, printable } from '../render/escape-control-characters.ts';

const printError = (message: string, hint: string) =>
  process.stderr.write(`error: ${printable(message)}\n  hint: ${printable(hint)}\n`);

/** Prints a usage error of Commander, whose message may have a suggestion on its second line. */
function printUsageError({ message }: CommanderError): void {
  const [what = '', suggestion] = message.replace(/^error: /, '').split('\n');
  const hint = suggestion?.replace(/^\(Did you mean (.*)\?\)$/, 'did you mean $1?');
  printError(what, hint ?? 'see --help');
}

function saveStack(stack: string): string {
  try {
    const file = join(mkdtempSync(join(tmpdir(), 'dki-bench-')), 'error.log');
    writeFileSync(file, `${stack}\n`);
    return `its stack is in ${file}`;
  } catch {
    return 'repeat it with --debug to see its stack';
  }
}

/** Prints an error and its hint, and returns the exit code. The stack of a bug goes to a file, or with `debug` to standard error. */
export function reportFailure(error: unknown, debug: boolean): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.ok;
    // For a missing subcommand, Commander has already printed the help.
    if (error.code !== 'commander.help') printUsageError(error);
    return exitCodes.badUsage;
  }
  if (error instanceof BenchError) {
    printError(error.message, error.hint);
    if (debug) process.stderr.write(`${escapedControls(error.stack ?? '')}\n`);
    return exitCodes.badUsage;
  }
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  printError(message.split('\n')[0]!, `this is a bug in dki-bench; ${debug ? 'its stack follows' : saveStack(stack)}`);
  if (debug) process.stderr.write(`${escapedControls(stack)}\n`);
  return exitCodes.bug;
}

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
