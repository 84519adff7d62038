import { BenchError, didYouMean } from '../../base/bench-error.ts';
import type { CapabilityName } from '../../engine/engine-capabilities.ts';
import type { ArmSettings, ArmTraits, Mark } from '../../store/records/arm-traits.ts';
import type { BenchSystem } from '../memory-system.ts';
import { noAnswerPrefix } from '../prompt/prompt-form.ts';
import type { JoinRecipe } from '../prefill/join-recipe.ts';
import type { SystemParts } from '../answer-turn.ts';
import type { ArmDefinition, ArmParts, OwnTraits } from './arm-definition.ts';
import { armMark } from './arm-plot-marks.ts';
import { type ArmName, armSettingsHelp, blockSettingsHelp, parseArmName } from './arm-name.ts';
import { blockRefusals, type BlockSettings, type Refusal, splitSettings } from './block-settings.ts';
import { kvArms } from './kv-arms.ts';
import { textArms } from './text-arms.ts';

export interface ArmDefaults {
  readonly alpha: number;
  readonly gatingThreshold: number;
}

/** One arm of a run. */
export interface Arm {
  readonly traits: ArmTraits;
  readonly requires: readonly CapabilityName[];
  /** The prompt template set in the arm's name; undefined: the run's. */
  readonly template: ArmSettings['template'];
  /** True: a gate decides each turn, with the threshold for the run's embedder. */
  readonly gated: boolean;
  /** True: the arm needs a retriever that makes a summary. */
  readonly readsSummary: boolean;
  /** Creates the arm's system with the argument and settings of its name. */
  readonly open: (parts: Omit<ArmParts, keyof ArmDefaults | 'blocks' | 'keptAs'>) => BenchSystem;
}

/** The arms that `--arms` may name. */
export class ArmRegistry {
  readonly #definitions: readonly ArmDefinition[];

  constructor(definitions: readonly ArmDefinition[]) {
    this.#definitions = definitions;
  }

  /** A registry that adds a caller's arms. They replace built-in arms of the same name. */
  with(...definitions: readonly ArmDefinition[]): ArmRegistry {
    return new ArmRegistry([...definitions, ...this.#definitions]);
  }

  /** Example names of all arms, such as `dki-link:4`, for help and messages. */
  get names(): readonly string[] {
    return [...new Set(this.#definitions.map(exampleName))];
  }

  /** The mark of an arm in figures; undefined for an unknown name. */
  mark(name: string): Mark | undefined {
    const found = this.#find(name);
    if (found === undefined) return undefined;
    return ownTraits(found.definition, found.parsed.argument, 1, {}).mark ?? this.#mark(found.definition);
  }

  /** True for the name of a known arm with valid settings. */
  has(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  /** The arms with these names. @throws BenchError `bad-option` for an unknown name, or an alpha that no arm would use */
  named(names: readonly string[], defaults: ArmDefaults): readonly Arm[] {
    const found = [...new Set(names)].map((name) => this.#named(name, defaults));
    const injects = ({ traits }: Arm): boolean => traits.injects !== 'nothing';
    if (defaults.alpha !== 1 && !found.some(({ arm }) => injects(arm))) {
      throw new BenchError(
        'bad-option',
        `--alpha ${defaults.alpha}: none of ${names.join(', ')} injects KV that it could scale`,
        'add an arm that does, such as dki, or drop --alpha',
      );
    }
    const texts = found.filter(({ isBaseline }) => isBaseline);
    return found.map(({ arm, rulesKey, isBaseline }) => {
      const text = texts.find((other) => other.rulesKey === rulesKey);
      const reference = text === undefined || text.arm === arm ? null : text.arm.traits.name;
      // A single baseline arm stays the baseline even if its name has settings.
      const sole = isBaseline && texts.length === 1 ? { comparison: 'baseline' as const } : {};
      return { ...arm, traits: { ...arm.traits, reference, ...sole } };
    });
  }

  #find(name: string): FoundArm | undefined {
    const own = this.#definitions.find((definition) => definition.name === name);
    if (own !== undefined && own.argument === undefined) {
      return { definition: own, parsed: { base: name, arm: name, argument: null, settings: {} } };
    }
    const parsed = parseArmName(name);
    const definition = this.#definitions.find((candidate) => candidate.name === parsed?.arm);
    if (parsed === undefined || definition === undefined) return undefined;
    const { argument } = definition;
    const fits = argument === undefined ? parsed.argument === null : argument.pattern.test(parsed.argument ?? '');
    return fits ? { definition, parsed } : undefined;
  }

  #named(name: string, defaults: ArmDefaults) {
    const found = this.#find(name);
    if (found === undefined) {
      throw new BenchError(
        'bad-option',
        `--arms: no arm "${name}"${didYouMean(name, this.names)}`,
        `choose among ${this.names.join(', ')}; each may have ${armSettingsHelp}; those that join blocks ${blockSettingsHelp}`,
      );
    }
    const { definition, parsed } = found;
    const { argument, settings } = parsed;
    const { alpha = defaults.alpha, store: keptAs = 'f16', template } = settings;
    const { blocks, others } = splitSettings(settings);
    const traits = this.#traits(name, found, alpha, blocks);
    requireMeaning(found, traits, definition.joins?.(argument) ?? null);
    const needs = definition.requires?.(argument, alpha, blocks) ?? [];
    const arm: Arm = {
      traits,
      // Quantised KV is imported as cells.
      requires: keptAs === 'f16' || needs.includes('cells') ? needs : [...needs, 'cells'],
      template,
      gated: definition.gated === true,
      readsSummary: definition.readsSummary === true,
      open: (parts) => {
        const rules = rulesBy(settings, parts.rules);
        return definition.open(
          { ...parts, ...defaults, alpha, keptAs, prefixSharing: traits.shares, blocks, rules },
          argument,
        );
      },
    };
    const rulesKey = JSON.stringify(
      Object.entries({ ...others, alpha: undefined, store: undefined, share: undefined }).sort(),
    );
    return { arm, rulesKey, isBaseline: definition.name === BASELINE };
  }

  #traits(name: string, { definition, parsed }: FoundArm, alpha: number, blocks: BlockSettings): ArmTraits {
    const { base, argument, settings } = parsed;
    const mark = this.#mark(definition);
    const traits = { ...defaultTraits, mark, ...ownTraits(definition, argument, alpha, blocks) };
    const isQuantised = (settings.store ?? 'f16') !== 'f16';
    const isPlain = Object.keys(settings).length === 0;
    return {
      ...traits,
      equivalence: isQuantised && traits.equivalence !== 'none' ? 'tokens' : traits.equivalence,
      // With settings it is a different arm, and its comparison was not planned.
      ...(isPlain ? {} : { control: null, comparison: 'exploratory' }),
      ...(settings.share === undefined ? {} : { shares: settings.share }),
      name,
      base,
      settings,
      reference: null,
    };
  }

  #mark(definition: ArmDefinition): Mark {
    return armMark(definition.name, this.#definitions.indexOf(definition));
  }
}

interface FoundArm {
  readonly definition: ArmDefinition;
  readonly parsed: ArmName;
}

const defaultTraits = {
  retrieves: 'retrieved',
  injects: 'nothing',
  equivalence: 'none',
  control: null,
  comparison: 'exploratory',
  keepsSession: false,
} as const satisfies Partial<OwnTraits>;

export function ownTraits({ traits }: ArmDefinition, ...given: Parameters<TraitsOf>): OwnTraits {
  return typeof traits === 'function' ? traits(...given) : traits;
}

type TraitsOf = Extract<ArmDefinition['traits'], (...given: never[]) => unknown>;

/** @throws BenchError `bad-option` for a setting that has no meaning for the arm, or contradicts another */
function requireMeaning({ definition, parsed }: FoundArm, traits: ArmTraits, recipe: JoinRecipe | null): void {
  const { settings } = parsed;
  const { name: arm, readsSummary = false } = definition;
  const { alpha, store, order, placement, share } = settings;
  const { external, injects } = traits;
  const ordersByRule = readsSummary || !['retrieved', 'donor'].includes(traits.retrieves);
  const refusals: readonly Refusal[] = [
    ...blockRefusals(settings, recipe, traits),
    [
      external === true && (alpha ?? store) !== undefined,
      `${arm} injects KV as it is in the files`,
      'drop @alpha and @store',
    ],
    [injects === 'nothing' && alpha !== undefined, `${arm} injects no KV to scale`, 'drop @alpha'],
    [injects === 'nothing' && store !== undefined, `${arm} injects no stored KV`, 'drop @store'],
    [
      order !== undefined && placement !== undefined,
      '@order and @placement both set the order of the memories',
      'drop one of them',
    ],
    [
      order !== undefined && ordersByRule,
      `@order is for arms that show retrieved memories one by one, and ${arm} does not`,
      'set it on rag or dki',
    ],
    [
      share !== undefined && ownTraits(definition, null, 1, {}).shares === undefined,
      `${arm} has no prefix cache that users could share`,
      'drop @share, or set it on rag-cached',
    ],
  ];
  const [, why, hint] = refusals.find(([isRefused]) => isRefused) ?? [];
  if (why !== undefined) throw new BenchError('bad-option', `--arms ${traits.name}: ${why}`, hint!);
}

/** The arm that all others are compared with. */
const BASELINE = 'rag';

/** All built-in arms. */
export const armRegistry = new ArmRegistry([...textArms, ...kvArms]);

function exampleName({ name, argument }: ArmDefinition): string {
  return argument === undefined ? name : `${name}:${argument.example}`;
}

/** The run's prompt rules, changed by the arm's settings. */
function rulesBy(settings: ArmSettings, rules: SystemParts['rules']): SystemParts['rules'] {
  const { labels, order, placement = order, budget, template, answerPrefix } = settings;
  return {
    ...rules,
    ...(labels === undefined ? {} : { labels }),
    ...(placement === undefined ? {} : { placement }),
    ...(template === undefined ? {} : { template }),
    ...(budget === undefined ? {} : { memoryShare: budget === 'all' ? 1 : 0.5 }),
    ...(answerPrefix === undefined
      ? {}
      : { answerPrefix: { ...(rules.answerPrefix ?? noAnswerPrefix), use: answerPrefix } }),
  };
}
