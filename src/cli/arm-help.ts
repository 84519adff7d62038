import { hangingText, wrapText } from '../render/wrap-text.ts';
import { armSettingsHelp, blockSettingsHelp } from '../systems/arms/arm-name.ts';
import { type Arm, armRegistry } from '../systems/arms/arm-registry.ts';
import { terminalPage } from './output.ts';

export function everyArm(): readonly Arm[] {
  return armRegistry.named(armRegistry.names, { alpha: 1, gatingThreshold: 0 });
}

export function armSummary({ traits, requires }: Arm): string {
  return traits.summary + (requires.length === 0 ? '' : ` (needs ${requires.join(', ')})`);
}

export function armHelp(arms: readonly Arm[] = everyArm()): string {
  const { width } = terminalPage();
  const columns = Math.max(...arms.map(({ traits }) => traits.name.length)) + 4;
  const lines = arms.flatMap((arm) => hangingText(`  ${arm.traits.name}`.padEnd(columns), armSummary(arm), width));
  const settings = [
    `Each may have settings: ${armSettingsHelp}`,
    `Arms that join blocks of KV may have ${blockSettingsHelp}`,
  ];
  return ['', 'Arms:', ...lines, ...settings.flatMap((line) => wrapText(line, width))].join('\n');
}
