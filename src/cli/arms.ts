import type { Command } from 'commander';
import { printableJson } from '../render/printable.ts';
import type { Arm } from '../systems/arms/arm-registry.ts';
import { armSettingsHelp, blockSettingsHelp } from '../systems/arms/arm-name.ts';
import { everyArm } from './arm-help.ts';
import { listText } from './list-text.ts';

const help = `
A name's argument may be another number: dki-link:16, dki-first:.15. Each may have settings: ${armSettingsHelp}.
Those that join blocks of K/V may have ${blockSettingsHelp}.
doctor --model NAME says which of them a model can run, and why not the others.`;

/** Declares `arms`. */
export function declareArms(command: Command): void {
  command
    .description('list the arms that bench --arms takes, one line each')
    .option('--json', 'print one JSON document')
    .addHelpText('after', help)
    .action(({ json }: { readonly json?: true }) => {
      const arms = everyArm();
      process.stdout.write(json === true ? printableJson(arms.map(rowOf)) : armLines(arms));
    });
}

/** Name, summary, and the capabilities of an engine that each needs. */
function armLines(arms: readonly Arm[]): string {
  return listText(
    arms.map(({ traits: { name, summary }, requires }) => {
      const needs = requires.length === 0 ? '' : ` (needs ${requires.join(', ')})`;
      return [name, `${summary}${needs}`];
    }),
  );
}

/** An arm for programs. */
function rowOf({ traits, requires }: Arm): Readonly<Record<string, unknown>> {
  const { name, summary, retrieves, injects, equivalence, control, comparison, deployable = true } = traits;
  return { name, summary, requires, retrieves, injects, equivalence, control, comparison, deployable };
}
