import type { Command } from 'commander';
import { configOptions } from '../config/config-options.ts';
import { engineNames } from '../bench/compose.ts';
import { addConfigOptions } from './config-options.ts';

/** All options but that of a queue, which other verbs have. */
export const optionsOfRuns = configOptions()
  .map(({ key }) => key)
  .filter((key) => key !== 'queue');

/** Declares `bench`; what runs a bench is loaded when its options were understood, the arms for their help. */
export async function declareBench(command: Command, helpIsAsked: boolean): Promise<void> {
  command.description('run suites, check their results, and print the tables');
  addConfigOptions(command, optionsOfRuns, { engine: engineNames }).action(
    async (flags: Readonly<Record<string, unknown>>) => {
      const { benchAndReport } = await import('./bench-and-report.ts');
      process.exitCode = await benchAndReport(flags);
    },
  );
  if (!helpIsAsked) return;
  const { armHelp } = await import('./arm-help.ts');
  command.addHelpText('after', armHelp());
}
