import { z } from 'zod';
import { armSettings, type ArmSettings } from '../../store/records/arm-traits.ts';

/** The parts of an arm's name: `dki-link:4@labels=bullet` is the arm `dki-link` with the argument `4` and one setting. */
export interface ArmName {
  /** Without settings: `dki-link:4`. */
  readonly base: string;
  readonly arm: string;
  /** The text after the colon; null without one. */
  readonly argument: string | null;
  readonly settings: ArmSettings;
}

/** Settings of every arm, as help and messages list them. */
export const armSettingsHelp =
  '@alpha=N, @labels=index|bullet, @placement=chronological|rank|rank-last, @order=stable, @budget=half|all, @template=plain|chat,' +
  ' @answer-prefix=none|general|item, @store=f16|q8_0|q4_0, @share=system|all';

/** Settings of arms that join KV blocks. */
export const blockSettingsHelp =
  '@context=header|none|previous, @sink=N|N:kept, @positions=contiguous|parallel, @temperature=N, @run=N, @built=turn|ahead;' +
  ' if they evict tokens, @repair=N|N:random instead';

const knownSettings = z.strictObject(armSettings.unwrap().shape);
/** The only setting whose name in an arm differs from its field: `answerPrefix`. */
const PREFIX_SETTING = 'answer-prefix';
const NUMBERS: readonly string[] = ['alpha', 'temperature', 'run'] satisfies (keyof ArmSettings)[];
const DECIMAL = /^\d+(\.\d+)?$/;

function parseSetting(text: string): readonly [string, string | number] {
  const [key = '', ...values] = text.split('=');
  const value = values.join('=');
  if (key === PREFIX_SETTING) return ['answerPrefix', value];
  // Refused below as unknown: names allow only the spelling with a hyphen.
  if (key === 'answerPrefix') return [text, value];
  return [key, NUMBERS.includes(key) && DECIMAL.test(value) ? Number(value) : value];
}

/** Splits an arm's name; undefined if a setting is invalid or given twice. Does not check that the arm exists: the registry does. */
export function parseArmName(name: string): ArmName | undefined {
  const [base = '', ...texts] = name.split('@');
  const given = Object.fromEntries(texts.map(parseSetting));
  const settings = knownSettings.safeParse(given);
  if (!settings.success || Object.keys(given).length < texts.length) return undefined;
  const colon = base.indexOf(':');
  return {
    base,
    arm: colon === -1 ? base : base.slice(0, colon),
    argument: colon === -1 ? null : base.slice(colon + 1),
    settings: settings.data,
  };
}

export function withSetting(arm: string, setting: keyof ArmSettings, value: string | number): string {
  return `${arm}@${setting === 'answerPrefix' ? PREFIX_SETTING : setting}=${value}`;
}
