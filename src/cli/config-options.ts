import type { Command } from 'commander';
import type { BenchConfig } from '../config/bench-config.ts';
import { configOptions } from '../config/load-config.ts';

/** Gives a verb the options of the configuration, or those of the given keys. */
export function addConfigOptions(command: Command, keys?: readonly (keyof BenchConfig)[]): Command {
  for (const { key, flag, value, help, default: preset } of configOptions()) {
    if (keys !== undefined && !(keys as readonly string[]).includes(key)) continue;
    const known = typeof preset === 'string' || typeof preset === 'number' ? ` (default: ${preset})` : '';
    command.option(value === undefined ? flag : `${flag} ${value}`, help + known);
  }
  return command;
}
