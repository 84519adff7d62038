import { type Command, Option } from 'commander';
import { BenchError } from '../base/bench-error.ts';
import type { BenchConfig } from '../config/bench-config.ts';
import { configOptions, flagName } from '../config/flags-from-schema.ts';

export type Flags = Readonly<Record<string, unknown>>;

export interface JsonFlag {
  readonly json?: true;
}

export function addConfigOptions(command: Command, keys?: readonly (keyof BenchConfig)[]): Command {
  for (const { key, flag, value, help, negated, group } of configOptions()) {
    if (keys !== undefined && !(keys as readonly string[]).includes(key)) continue;
    // Declared first, so that no default of the negated flag overrides the configuration.
    if (negated) command.addOption(new Option(flag.replace('--no-', '--')).hideHelp().helpGroup(group));
    command.addOption(new Option(value === undefined ? flag : `${flag} ${value}`, help).helpGroup(group));
  }
  return command;
}

/** Adds `--debug` and examples (command line → what it does) to a command's help. */
export function withExamples(command: Command, examples: Readonly<Record<string, string>>): Command {
  const lines = Object.entries(examples).flatMap(([words, does]) => [`  # ${does}`, `  dki-bench ${words}`]);
  return command
    .option('--debug', 'show the stack of an error')
    .addHelpText('after', lines.length === 0 ? '' : ['', 'Examples:', ...lines].join('\n'));
}

export function subcommand(command: Command, name: string, description: string): Command {
  return withExamples(command.command(name).description(description), {}).option('--json', 'print one JSON document');
}

/** Reads a whole number. @throws BenchError `bad-option` */
export function wholeNumber(option: string, text: string, least: 0 | 1, hint = 'see --help'): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  const message = `${option} ${JSON.stringify(text)}: expected a whole number, ${least} or more`;
  throw new BenchError('bad-option', message, hint);
}

/** Refuses flags that a mode of a command does not use. @throws BenchError `bad-option` for the first of them */
export function refuseUnusedFlags(flags: Flags, why: string, hint = 'drop it'): void {
  const named = Object.keys(flags).find((key) => flags[key] !== undefined);
  if (named !== undefined) throw new BenchError('bad-option', `${flagName(named)} ${why}`, hint);
}
