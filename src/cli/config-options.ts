import { type Command, Option } from 'commander';
import type { BenchConfig } from '../config/bench-config.ts';
import { configOptions } from '../config/config-options.ts';
import { optionGroups } from '../config/option-groups.ts';

/** Choices of options that the configuration itself does not know. */
type Choices = Readonly<Partial<Record<keyof BenchConfig, readonly string[]>>>;

/**
 * Gives a verb the options of the configuration, or those of the given keys.
 *
 * @param choices an argument, since the modules that know them are slow to load
 */
export function addConfigOptions(
  command: Command,
  keys?: readonly (keyof BenchConfig)[],
  choices: Choices = {},
): Command {
  for (const { key, flag, value, help, negated } of configOptions()) {
    if (keys !== undefined && !(keys as readonly string[]).includes(key)) continue;
    const known = choices[key as keyof BenchConfig]?.join(', ');
    const text = known === undefined ? help : help.replace(/\)$/, `; choices: ${known})`);
    // Declared first, so that no default of the flag overrides the configuration.
    const group = optionGroups[key];
    if (negated) command.addOption(new Option(flag.replace('--no-', '--')).hideHelp().helpGroup(group));
    const option = new Option(value === undefined ? flag : `${flag} ${value}`, text);
    command.addOption(option.helpGroup(group));
  }
  return command;
}
