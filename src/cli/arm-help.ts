import { hangingText, wrapText } from '../render/terminal-text.ts';
import { armSettingsHelp, blockSettingsHelp } from '../systems/arms/arm-name.ts';
import { type Arm, armRegistry } from '../systems/arms/arm-registry.ts';
import { terminalPage } from './output.ts';
import { BenchError, didYouMean } from '../base/bench-error.ts';
import type { BenchConfig } from '../config/bench-config.ts';
import { readGatingCalibration } from '../models/embedding/gating-calibration.ts';
import { PAPER_RELEVANCE_THRESHOLD } from '../systems/prefill/dual-factor-gate.ts';

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

/** False for an arm that needs memories which only a data set can name. */
function canChat({ traits: { retrieves } }: Arm): boolean {
  return retrieves !== 'evidence' && retrieves !== 'donor';
}

export function chatArms(): readonly Arm[] {
  return everyArm().filter(canChat);
}

/** @throws BenchError `bad-option` for an unknown name, and for an arm that cannot chat */
export function chatArm(name: string, { alpha, embedder }: BenchConfig): Arm {
  const known = chatArms().map(({ traits }) => traits.name);
  const hint = `choose among ${known.join(', ')}; each may have ${armSettingsHelp}; those that join blocks ${blockSettingsHelp}`;
  if (!armRegistry.has(name)) {
    throw new BenchError('bad-option', `there is no arm "${name}"${didYouMean(name, known)}`, hint);
  }
  const gatingThreshold = readGatingCalibration(embedder)?.gatingThreshold ?? PAPER_RELEVANCE_THRESHOLD;
  const arm = armRegistry.named([name], { alpha, gatingThreshold })[0]!;
  if (canChat(arm)) return arm;
  const why = "it needs evidence or another user's memories, which only a data set has";
  throw new BenchError('bad-option', `arm ${name} cannot chat: ${why}`, hint);
}
