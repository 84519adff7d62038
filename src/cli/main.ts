#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { declareBench } from './bench.ts';
import { declareCompare } from './compare.ts';
import { declareData } from './data.ts';
import { declareDoctor } from './doctor.ts';
import { reportFailure } from './failure.ts';
import { declareInspect } from './inspect.ts';
import { declareTables } from './tables.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The verbs, each with its options; errors are thrown, not printed. */
function commandLineProgram(): Command {
  const program = new Command('dki-bench')
    .description('compares two ways of giving a language model memories of its user: as text, and as attention K/V')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: () => undefined });
  const verbs = {
    bench: declareBench,
    tables: declareTables,
    compare: declareCompare,
    inspect: declareInspect,
    data: declareData,
    doctor: declareDoctor,
  };
  for (const [name, declare] of Object.entries(verbs)) {
    const command = program.command(name);
    declare(command);
    command.option('--debug', 'show the stack of an error');
  }
  return program;
}

/** Waits until what was written has left: ending the process cuts a pipe short. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()));
}

// Whoever reads the output may have seen enough of it.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});
// Node.js ignores it, so that a write beyond a limit fails and is reported; signal-exit, which listens to every signal
// for node-llama-cpp, would end the process unless somebody else listens too.
process.on('SIGXFSZ', () => undefined);
try {
  await commandLineProgram().parseAsync();
} catch (error) {
  process.exitCode = reportFailure(error, process.argv.includes('--debug'));
}
await flushed(process.stdout);
await flushed(process.stderr);
process.exit();
