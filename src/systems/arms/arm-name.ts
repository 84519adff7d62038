import { z } from 'zod';
import { armSettings, type ArmSettings } from '../../records/arm-traits.ts';

/** An arm's name in its parts: `dki-link:4@labels=bullet` is the arm `dki-link`, its argument `4`, and a setting. */
export interface ArmName {
  /** Without settings: `dki-link:4`. */
  readonly base: string;
  readonly arm: string;
  /** Behind the colon; null without one. */
  readonly argument: string | null;
  readonly settings: ArmSettings;
}

/** The settings, for help and for messages. */
export const armSettingsHelp =
  '@alpha=N, @labels=index|bullet, @placement=chronological|rank, @budget=half|all, @template=plain|chat';

const knownSettings = z.strictObject(armSettings.unwrap().shape);
const DECIMAL = /^\d+(\.\d+)?$/;

function settingOf(text: string): readonly [string, string | number] {
  const [key = '', value = ''] = text.split('=', 2);
  return [key, key === 'alpha' && DECIMAL.test(value) ? Number(value) : value];
}

/** The parts of an arm's name; undefined where a setting is none. Whether there is such an arm is for the registry. */
export function parseArmName(name: string): ArmName | undefined {
  const [base = '', ...texts] = name.split('@');
  const settings = knownSettings.safeParse(Object.fromEntries(texts.map(settingOf)));
  if (!settings.success) return undefined;
  const colon = base.indexOf(':');
  return {
    base,
    arm: colon === -1 ? base : base.slice(0, colon),
    argument: colon === -1 ? null : base.slice(colon + 1),
    settings: settings.data,
  };
}

/** The name of an arm with one more setting. */
export function withSetting(arm: string, setting: keyof ArmSettings, value: string | number): string {
  return `${arm}@${setting}=${value}`;
}
