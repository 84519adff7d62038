import { wrapText } from '../report/render/text-width.ts';
import { type Arm, armRegistry } from '../systems/arms/arm-registry.ts';
import { armSettingsHelp } from '../systems/arms/arm-name.ts';
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
  return ['', 'Arms:', ...lines, ...wrapText(`Each may have settings: ${armSettingsHelp}`, width)].join('\n');
}
