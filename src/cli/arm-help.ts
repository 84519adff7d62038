import { wrapText } from '../render/text-width.ts';
import { type Arm, armRegistry } from '../systems/arms/arm-registry.ts';
import { armSettingsHelp, blockSettingsHelp } from '../systems/arms/arm-name.ts';
import { pageOf } from './page.ts';

/** Every arm as the registry gives it, with an example of its argument. */
export function everyArm(): readonly Arm[] {
  return armRegistry.named(armRegistry.names, { alpha: 1, gatingThreshold: 0 });
}

/** The arms for `--help`: name, summary, and the capabilities of an engine that each needs. */
export function armHelp(arms: readonly Arm[] = everyArm()): string {
  const { width } = pageOf(process.stdout);
  const columns = Math.max(...arms.map(({ traits }) => traits.name.length)) + 4;
  const lines = arms.flatMap(({ traits: { name, summary }, requires }) => {
    const needs = requires.length === 0 ? '' : ` (needs ${requires.join(', ')})`;
    return wrapText(summary + needs, width - columns).map(
      (line, index) => (index === 0 ? `  ${name}` : '').padEnd(columns) + line,
    );
  });
  const settings = [
    `Each may have settings: ${armSettingsHelp}`,
    `Those that join blocks of K/V may have ${blockSettingsHelp}`,
  ];
  return ['', 'Arms:', ...lines, ...settings.flatMap((line) => wrapText(line, width))].join('\n');
}
