import { armNames, linkArmPattern } from '../../config/bench-config.ts';
import { BenchError } from '../../config/bench-error.ts';
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
   * What it claims to share with `rag`: the `ids` of its token sequence; `bits`: these, and its next-token
   * probabilities bit by bit; or nothing.
   */
  readonly claims: 'bits' | 'ids' | 'nothing';
  /** What it hands over as K/V, wherever there is any. Without it a turn is exempt from being new or seen. */
  readonly injects: 'memories' | 'preferences' | 'nothing';
}

/** Where an arm keeps K/V. */
export type ArmStore = Required<Pick<DKISystemParts, 'store' | 'diskTiming'>>;

/** One arm of the bench: a recall and a hand-over under a name. */
export interface Arm extends ArmTraits {
  readonly open: (parts: SystemParts, item: ItemView, openStore: () => ArmStore) => BenchSystem;
}

/** What arms are told beside the item. */
export interface ArmSettings {
  /** Multiplies the values of injected memories. */
  readonly alpha: number;
  /** Least relevance at which `dki-gated` injects. */
  readonly gatingThreshold: number;
}

/** The arms that run where none are named, in the order of the tables. */
export const MAIN_ARMS: readonly string[] = [
  'none',
  'oracle',
  'full',
  'rag',
  'rag-cached',
  'dki',
  'dki-blocks',
  'dki-link:4',
  'dki-parallel',
  'rag-twin',
  'dki-wrong',
];

type OpenArm = Arm['open'];

function textArm(name: string, claims: ArmTraits['claims'], open: OpenArm): Arm {
  return { name, claims, injects: 'nothing', open };
}

function ragArm(name: string, cached = false): Arm {
  return textArm(name, 'bits', (parts, item, openStore) => {
    const cache = cached ? { prefixCache: openStore().store } : {};
    return new RAGSystem({ ...parts, recall: item.recall, injectionMode: name, ...cache });
  });
}

/** What a `dki` arm differs in from another. */
type InjectionParts = (item: ItemView) => Omit<DKISystemParts, keyof SystemParts | keyof ArmStore | 'alpha'> & {
  readonly recall?: Recall;
};

function dkiArm(traits: ArmTraits, alpha: number, more: InjectionParts = () => ({})): Arm {
  return {
    ...traits,
    open: (parts, item, openStore) =>
      new DKISystem({ ...parts, recall: item.recall, ...openStore(), alpha, ...more(item) }),
  };
}

const TEXT_ARMS: readonly Arm[] = [
  textArm('none', 'nothing', (parts) => noMemory(parts)),
  textArm('oracle', 'nothing', (parts, item) => oracle(parts, item.evidence)),
  textArm('full', 'nothing', (parts, item) => fullContext(parts, item.all)),
  ragArm('rag'),
  ragArm('rag-cached', true),
  ragArm('rag-twin'),
];

function injectingArm(name: string, { alpha, gatingThreshold }: ArmSettings): Arm | undefined {
  const all = { name, injects: 'memories' } as const;
  const linkTokens = linkArmPattern.exec(name)?.[1];
  if (linkTokens !== undefined) {
    return dkiArm({ ...all, claims: 'ids' }, alpha, () => ({ mode: linkMode(Number(linkTokens)) }));
  }
  switch (name) {
    case 'dki':
      return dkiArm({ ...all, claims: alpha === 1 ? 'bits' : 'ids' }, alpha);
    case 'dki-blocks':
      return dkiArm({ ...all, claims: 'ids' }, alpha, () => ({ mode: 'blocks' }));
    case 'dki-parallel':
      return dkiArm({ ...all, claims: 'nothing' }, alpha, () => ({ mode: 'parallel' }));
    case 'dki-hybrid':
      return dkiArm({ name, claims: 'nothing', injects: 'preferences' }, alpha, (item) => ({
        preferences: (userId) => item.all(userId).filter(isPreference),
      }));
    case 'dki-gated':
      return dkiArm({ ...all, claims: 'nothing' }, alpha, () => ({
        gating: { kind: 'dual-factor', threshold: gatingThreshold },
      }));
    case 'dki-wrong':
      return dkiArm({ ...all, claims: 'nothing' }, alpha, (item) => ({ recall: item.donated }));
    default:
      return undefined;
  }
}

/**
 * The arms of those names, each once.
 * @param own arms that somebody brings; they come before ours of the same name
 * @throws BenchError `bad-option` on a name that nobody has, and for an alpha that no arm would use
 */
export function armsNamed(names: readonly string[], settings: ArmSettings, own: readonly Arm[] = []): Arm[] {
  const chosen = [...new Set(names)].map((name) => {
    const arm = [...own, ...TEXT_ARMS].find((candidate) => candidate.name === name) ?? injectingArm(name, settings);
    if (arm !== undefined) return arm;
    throw new BenchError('bad-option', `--arms: no arm "${name}"`, `choose among ${armNames.join(', ')}`);
  });
  if (settings.alpha !== 1 && chosen.every(({ injects }) => injects === 'nothing')) {
    throw new BenchError(
      'bad-option',
      `--alpha ${settings.alpha}: none of ${chosen.map(({ name }) => name).join(', ')} injects K/V that it could scale`,
      'add an arm that does, such as dki, or drop --alpha',
    );
  }
  return chosen;
}
