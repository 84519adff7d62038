#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { reportFailure } from './failure.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

type Declare = (command: Command) => void;

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
  doctor: async () => (await import('./doctor.ts')).declareDoctor,
};

/** The program with the called verb, or with all verbs if there is no such verb; errors are thrown, not printed. */
async function commandLineProgram(called: string | undefined): Promise<Command> {
  const program = new Command('dki-bench')
    .description('compares two ways of giving a language model memories of its user: as text, and as attention K/V')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: () => undefined });
  const wanted = Object.entries(verbs).filter(([name]) => !Object.hasOwn(verbs, called ?? '') || name === called);
  for (const [name, load] of wanted) {
    const command = program.command(name);
    (await load())(command);
    command.option('--debug', 'show the stack of an error');
  }
  return program;
}

/** Waits until all output was written: ending the process cuts off a pipe. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()));
}

// A reader such as `head` may close the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});
// With this listener a write beyond a limit fails and is reported; without it signal-exit, which node-llama-cpp loads and
// which listens to every signal, would end the process.
process.on('SIGXFSZ', () => undefined);
try {
  await (await commandLineProgram(process.argv[2])).parseAsync();
} catch (error) {
  process.exitCode = reportFailure(error, process.argv.includes('--debug'));
}
await flushed(process.stdout);
await flushed(process.stderr);
process.exit();
