import { armNames, armSettingsHelp, parseArmName, type ArmName, type ArmSettings } from '../../config/arm-name.ts';
import { BenchError } from '../../config/bench-error.ts';
import { didYouMean } from '../../config/nearest-name.ts';
import type { MemorySearchResult } from '../../memory/memory-search-result.ts';
import type { BenchSystem } from '../../systems/bench-system.ts';
import { DKISystem, type DKISystemParts } from '../../systems/dki/dki-system.ts';
import { linkMode } from '../../systems/dki/injection-mode.ts';
import { fullContext } from '../../systems/full-context.ts';
import { noMemory } from '../../systems/no-memory.ts';
import { oracle } from '../../systems/oracle.ts';
import { isPreference } from '../../systems/prompt/placement.ts';
import { RAGSystem } from '../../systems/rag/rag-system.ts';
import type { Recall } from '../../systems/recall.ts';
import type { SystemParts } from '../../systems/system-parts.ts';

/** The item that is being asked, as far as an arm may know of it. */
export interface ItemView {
  /** What the retriever found for it, once for all arms. */
  readonly recall: Recall;
  /** The evidence memories, for the oracle alone. */
  readonly evidence: () => readonly MemorySearchResult[];
  /** All memories that the user has at that time, for full context. */
  readonly all: (userId: string) => readonly MemorySearchResult[];
  /** Another user's memories in place of those recalled, for the control. */
  readonly donated: Recall;
}

/** What tables and gates need to know of an arm. */
export interface ArmTraits {
  readonly name: string;
  /**
   * What it claims to share with its reference: the `ids` of its token sequence; `bits`: these, and its next-token
   * probabilities bit by bit; or nothing.
   */
  readonly claims: 'bits' | 'ids' | 'nothing';
  /** What it hands over as K/V, wherever there is any. Without it a turn is exempt from being new or seen. */
  readonly injects: 'memories' | 'preferences' | 'nothing';
  /** The `rag` of the run whose prompt is made by the same settings; null where there is none, and for that arm itself. */
  readonly reference: string | null;
}

/** Where an arm keeps K/V. */
export type ArmStore = Required<Pick<DKISystemParts, 'store' | 'diskTiming'>>;

/** An arm that somebody brings, or one of ours before it is known what else runs. */
export interface ArmDefinition extends Omit<ArmTraits, 'reference'> {
  readonly open: (parts: SystemParts, item: ItemView, openStore: () => ArmStore) => BenchSystem;
}

/** One arm of the bench: a recall and a hand-over under a name. */
export interface Arm extends ArmDefinition, ArmTraits {}

/** What arms are told beside the item. */
export interface ArmContext {
  /** Multiplies the values of injected memories, where an arm has no alpha of its own. */
  readonly alpha: number;
  /** Least relevance at which `dki-gated` injects. */
  readonly gatingThreshold: number;
}

type OpenArm = ArmDefinition['open'];

function textArm(name: string, claims: ArmTraits['claims'], open: OpenArm): ArmDefinition {
  return { name, claims, injects: 'nothing', open };
}

function ragArm(name: string, cached = false): ArmDefinition {
  return textArm(name, 'bits', (parts, item, openStore) => {
    const cache = cached ? { prefixCache: openStore().store } : {};
    return new RAGSystem({ ...parts, recall: item.recall, injectionMode: name, ...cache });
  });
}

/** What a `dki` arm differs in from another. */
type InjectionParts = (item: ItemView) => Omit<DKISystemParts, keyof SystemParts | keyof ArmStore | 'alpha'> & {
  readonly recall?: Recall;
};

function dkiArm(traits: Omit<ArmTraits, 'reference'>, alpha: number, more: InjectionParts = () => ({})): ArmDefinition {
  return {
    ...traits,
    open: (parts, item, openStore) =>
      new DKISystem({ ...parts, recall: item.recall, ...openStore(), alpha, ...more(item) }),
  };
}

const TEXT_ARMS: readonly ArmDefinition[] = [
  textArm('none', 'nothing', (parts) => noMemory(parts)),
  textArm('oracle', 'nothing', (parts, item) => oracle(parts, item.evidence)),
  textArm('full', 'nothing', (parts, item) => fullContext(parts, item.all)),
  ragArm('rag'),
  ragArm('rag-cached', true),
  ragArm('rag-twin'),
];

function injectingArm({ base, linkTokens }: ArmName, alpha: number, threshold: number): ArmDefinition | undefined {
  const all = { name: base, injects: 'memories' } as const;
  if (linkTokens !== undefined) return dkiArm({ ...all, claims: 'ids' }, alpha, () => ({ mode: linkMode(linkTokens) }));
  switch (base) {
    case 'dki':
      return dkiArm({ ...all, claims: alpha === 1 ? 'bits' : 'ids' }, alpha);
    case 'dki-resident':
      return dkiArm({ ...all, claims: alpha === 1 ? 'bits' : 'ids' }, alpha, () => ({ staysResident: true }));
    case 'dki-blocks':
      return dkiArm({ ...all, claims: 'ids' }, alpha, () => ({ mode: 'blocks' }));
    case 'dki-blocks+ahead':
      return dkiArm({ ...all, claims: 'ids' }, alpha, () => ({ mode: 'blocks', ahead: true }));
    case 'dki-parallel':
      return dkiArm({ ...all, claims: 'nothing' }, alpha, () => ({ mode: 'parallel' }));
    case 'dki-hybrid':
      return dkiArm({ ...all, injects: 'preferences', claims: 'nothing' }, alpha, (item) => ({
        preferences: (userId) => item.all(userId).filter(isPreference),
      }));
    case 'dki-gated':
      return dkiArm({ ...all, claims: 'nothing' }, alpha, () => ({ gating: { kind: 'dual-factor', threshold } }));
    case 'dki-wrong':
      return dkiArm({ ...all, claims: 'nothing' }, alpha, (item) => ({ recall: item.donated }));
    default:
      return undefined;
  }
}

/** The settings of an arm that decide how its prompt is made. */
function promptSettings({ labels, placement, budget, template }: ArmSettings): Partial<SystemParts['rules']> {
  return {
    ...(labels === undefined ? {} : { labels }),
    ...(placement === undefined ? {} : { placement }),
    ...(template === undefined ? {} : { template }),
    ...(budget === undefined ? {} : { memoryShare: budget === 'all' ? 1 : 0.5 }),
  };
}

function definitionOf(name: string, context: ArmContext, own: readonly ArmDefinition[]): ArmDefinition {
  const brought = own.find((candidate) => candidate.name === name);
  if (brought !== undefined) return brought;
  const parsed = parseArmName(name);
  const alpha = parsed?.settings.alpha ?? context.alpha;
  const arm =
    parsed &&
    (TEXT_ARMS.find((candidate) => candidate.name === parsed.base) ??
      injectingArm(parsed, alpha, context.gatingThreshold));
  if (parsed === undefined || arm === undefined) {
    throw new BenchError(
      'bad-option',
      `--arms: no arm "${name}"${didYouMean(name, armNames)}`,
      `choose among ${armNames.join(', ')}; each may have ${armSettingsHelp}`,
    );
  }
  if (parsed.settings.alpha !== undefined && arm.injects === 'nothing') {
    throw new BenchError('bad-option', `--arms ${name}: ${arm.name} injects no K/V to scale`, 'drop @alpha');
  }
  const rules = promptSettings(parsed.settings);
  return {
    ...arm,
    name,
    open: (parts, ...rest) => arm.open({ ...parts, rules: { ...parts.rules, ...rules } }, ...rest),
  };
}

/** By which settings an arm's prompt is made; arms that somebody brings make theirs as `rag` does. */
function promptKey(name: string): string {
  return JSON.stringify(Object.entries(promptSettings(parseArmName(name)?.settings ?? {})).sort());
}

/**
 * The arms of those names, each once.
 * @param own arms that somebody brings; they come before ours of the same name
 * @throws BenchError `bad-option` on a name that nobody has, and for an alpha that no arm would use
 */
export function armsNamed(names: readonly string[], context: ArmContext, own: readonly ArmDefinition[] = []): Arm[] {
  const chosen = [...new Set(names)].map((name) => definitionOf(name, context, own));
  if (context.alpha !== 1 && chosen.every(({ injects }) => injects === 'nothing')) {
    throw new BenchError(
      'bad-option',
      `--alpha ${context.alpha}: none of ${chosen.map(({ name }) => name).join(', ')} injects K/V that it could scale`,
      'add an arm that does, such as dki, or drop --alpha',
    );
  }
  const texts = chosen.filter(({ name }) => parseArmName(name)?.base === 'rag');
  return chosen.map((arm) => ({
    ...arm,
    reference: texts.find(({ name }) => name !== arm.name && promptKey(name) === promptKey(arm.name))?.name ?? null,
  }));
}
