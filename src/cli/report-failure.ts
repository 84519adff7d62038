import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { BenchError } from '../base/bench-error.ts';
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
