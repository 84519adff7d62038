import type { CapabilityName } from '../../engine/engine-capabilities.ts';
import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { StoreType } from '../../store/records/prefill-record.ts';
import type { BenchSystem } from '../memory-system.ts';
import type { OpenStore } from '../prefill/prefill-strategy.ts';
import type { PrefixSharing } from '../prefill/prefix-tree-prefill.ts';
import type { JoinRecipe } from '../prefill/join-recipe.ts';
import type { SystemParts } from '../answer-turn.ts';
import type { BlockSettings } from './block-settings.ts';

type Claims = Omit<ArmTraits, 'name' | 'base' | 'settings' | 'reference'>;

/**
 * Traits of one arm. All but the summary have defaults: the arm retrieves like `rag`, injects nothing, claims no equivalence,
 * is no control, is compared without a planned test, and gets its own mark in figures.
 */
export type OwnTraits = Pick<Claims, 'summary'> & Partial<Claims>;

/** Everything that a run provides to an arm. */
export interface ArmParts extends SystemParts {
  /** Opens the KV store of this arm. Each arm has its own, so arms never share KV. */
  readonly openStore: OpenStore;
  /** Multiplies the values of injected memories. */
  readonly alpha: number;
  /** Minimum relevance at which a gate injects. */
  readonly gatingThreshold: number;
  /** Number type of stored KV. */
  readonly keptAs: StoreType;
  /** What users may find of each other's prompts in a prefix cache. */
  readonly prefixSharing?: PrefixSharing | undefined;
  /** Settings of joined blocks in the arm's name; empty if there are none. */
  readonly blocks: BlockSettings;
}

/**
 * One arm: which memories it retrieves, and how they get in front of the question. The registry is the only list of arms;
 * a caller's arm has the same traits and is checked in the same way.
 *
 * @example
 * import { armRegistry, type ArmDefinition, RAGSystem } from 'dki-bench';
 * const bullets: ArmDefinition = {
 *   name: 'rag-bullets',
 *   traits: { summary: 'RAG with bullets instead of numbers' },
 *   open: (parts) => new RAGSystem({ ...parts, rules: { ...parts.rules, labels: 'bullet' } }),
 * };
 * const arms = armRegistry.with(bullets);
 * console.log(arms.names);
 */
export interface ArmDefinition {
  /** The base name, without argument and settings. */
  readonly name: string;
  /** The argument after a colon, if the arm takes one. */
  readonly argument?: {
    readonly example: string;
    readonly pattern: RegExp;
  };
  /**
   * Behaviour and claims of the arm, used by plan, checks, tables and figures. A function if they depend on the argument, on
   * α (from the name, or else from the run), or on block settings.
   */
  readonly traits: OwnTraits | ((argument: string | null, alpha: number, blocks: BlockSettings) => OwnTraits);
  /** Capabilities without which the arm cannot run. Default: none. */
  requires?(argument: string | null, alpha: number, blocks: BlockSettings): readonly CapabilityName[];
  /** How the arm joins blocks, without settings; missing if it joins none. */
  joins?(argument: string | null): JoinRecipe;
  /** True: a gate decides each turn, so its threshold must be calibrated for the embedder. Default false. */
  readonly gated?: boolean;
  /** True: the prompt shows the retriever's summary, which not every retriever makes. Default false. */
  readonly readsSummary?: boolean;
  /** Creates the arm's system from the parts of a run; the runner disposes of it. */
  open(parts: ArmParts, argument: string | null): BenchSystem;
}
