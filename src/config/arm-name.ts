/** The arms that `--arms` names; `dki-link:K` takes any number of tokens, and each of them may be given settings. */
export const armNames = [
  'none',
  'oracle',
  'full',
  'rag',
  'rag-cached',
  'dki',
  'dki-resident',
  'dki-blocks',
  'dki-blocks+ahead',
  'dki-link:4',
  'dki-parallel',
  'dki-hybrid',
  'dki-gated',
  'rag-twin',
  'dki-wrong',
] as const;

/** `dki-link:K`: blocks whose first K tokens are evaluated again in sight of what precedes them. */
const linkArmPattern = /^dki-link:(\d{1,6})$/;

/** What one arm does otherwise than the run: `dki@alpha=0.5`, `dki-blocks@labels=bullet@placement=rank`. */
export interface ArmSettings {
  /** Multiplies the values of injected memories. */
  readonly alpha?: number;
  readonly labels?: 'index' | 'bullet';
  readonly placement?: 'chronological' | 'rank';
  /** How much of the window that is left memories may take: `half` of it, or `all`. */
  readonly budget?: 'half' | 'all';
  /** In the words of the bench, or in the model's own chat template. */
  readonly template?: 'plain' | 'chat';
}

/** A name in its parts. */
export interface ArmName {
  readonly base: string;
  /** Of `dki-link:K`. */
  readonly linkTokens: number | undefined;
  readonly settings: ArmSettings;
}

type Setting = keyof ArmSettings;

const choices: Readonly<Partial<Record<string, readonly string[]>>> = {
  labels: ['index', 'bullet'],
  placement: ['chronological', 'rank'],
  budget: ['half', 'all'],
  template: ['plain', 'chat'],
};

/** What may stand behind an arm's name, for help and for messages. */
export const armSettingsHelp =
  '@alpha=N, @labels=index|bullet, @placement=chronological|rank, @budget=half|all, @template=plain|chat';

function settingOf(text: string): ArmSettings | undefined {
  const [key = '', value = ''] = text.split('=', 2);
  if (key === 'alpha') return /^\d+(\.\d+)?$/.test(value) ? { alpha: Number(value) } : undefined;
  return choices[key]?.includes(value) ? { [key]: value } : undefined;
}

/** The parts of an arm's name; undefined where a setting is none. Whether there is such an arm is not asked here. */
export function parseArmName(name: string): ArmName | undefined {
  const [base = '', ...texts] = name.split('@');
  const settings = texts.map(settingOf);
  if (settings.includes(undefined)) return undefined;
  const linkTokens = linkArmPattern.exec(base)?.[1];
  return {
    base,
    linkTokens: linkTokens === undefined ? undefined : Number(linkTokens),
    settings: Object.assign({}, ...settings) as ArmSettings,
  };
}

/** Whether it is an arm of ours, with settings that there are. */
export function isArmName(name: string): boolean {
  const parsed = parseArmName(name);
  if (parsed === undefined) return false;
  return parsed.linkTokens !== undefined || (armNames as readonly string[]).includes(parsed.base);
}

/** The name of an arm with a setting more. */
export function withSetting(base: string, setting: Setting, value: string | number): string {
  return `${base}@${setting}=${value}`;
}
