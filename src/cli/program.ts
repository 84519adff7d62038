import { Command } from 'commander';
import { requireNode } from '../base/node-floor.ts';
import { ownPackage } from '../base/own-package.ts';
import { exampleHelp } from './example-help.ts';
import { reportFailure } from './failure.ts';

type Declare = (command: Command, helpIsAsked: boolean) => void | Promise<void>;

/** The verbs, each loaded when it is called, since models and figures take seconds to load. */
const verbs: Readonly<Record<string, () => Promise<Declare>>> = {
  init: async () => (await import('./init.ts')).declareInit,
  bench: async () => (await import('./bench.ts')).declareBench,
  tables: async () => (await import('./tables.ts')).declareTables,
  merge: async () => (await import('./merge.ts')).declareMerge,
  plan: async () => (await import('./plan.ts')).declarePlan,
  worker: async () => (await import('./worker.ts')).declareWorker,
  status: async () => (await import('./status.ts')).declareStatus,
  compare: async () => (await import('./compare.ts')).declareCompare,
  inspect: async () => (await import('./inspect.ts')).declareInspect,
  search: async () => (await import('./search.ts')).declareSearch,
  chat: async () => (await import('./chat.ts')).declareChat,
  data: async () => (await import('./data.ts')).declareData,
  datasets: async () => (await import('./data.ts')).declareDatasets,
  models: async () => (await import('./models.ts')).declareModels,
  arms: async () => (await import('./arms.ts')).declareArms,
  suites: async () => (await import('./suites.ts')).declareSuites,
  metrics: async () => (await import('./metrics.ts')).declareMetrics,
  doctor: async () => (await import('./doctor.ts')).declareDoctor,
};

export const verbNames: readonly string[] = Object.keys(verbs);

/** A verb with its options, below a program. @param helpIsAsked what only help shows is loaded too */
export async function declaredVerb(name: string, program: Command, helpIsAsked = false): Promise<Command> {
  const command = program.command(name);
  const declare = await verbs[name]!();
  await declare(command, helpIsAsked);
  return command.option('--debug', 'show the stack of an error').addHelpText('after', exampleHelp(name));
}

/** The program with the called verb, or with all verbs if there is no such verb; errors are thrown, not printed. */
async function commandLineProgram(words: readonly string[]): Promise<Command> {
  const [called] = words;
  const program = new Command('dki-bench')
    .description('compares two ways of giving a language model memories of its user: as text, and as attention K/V')
    .version(ownPackage.version)
    .exitOverride()
    .configureOutput({ outputError: () => undefined });
  if (called === '--version' || called === '-V') return program;
  requireNode();
  const helpIsAsked = words.some((word) => ['help', '--help', '-h'].includes(word));
  const wanted = verbNames.filter((name) => !Object.hasOwn(verbs, called ?? '') || name === called);
  for (const name of wanted) await declaredVerb(name, program, helpIsAsked);
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
