import type { CapabilityName } from '../../engine/engine-capabilities.ts';
import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { StoreType } from '../../store/records/prefill-record.ts';
import type { BenchSystem } from '../memory-system.ts';
import type { OpenStore } from '../prefill/prefill-strategy.ts';
import type { JoinRecipe } from '../prefill/join-recipe.ts';
import type { SystemParts } from '../answer-turn.ts';
import type { BlockSettings } from './block-settings.ts';

type Claims = Omit<ArmTraits, 'name' | 'base' | 'settings' | 'reference'>;

/**
 * Traits of one arm. All but the summary have a default: it retrieves like `rag`, injects nothing, claims no equivalence, is
 * not a control, is compared without a planned test, and has its own mark in figures.
 */
export type OwnTraits = Pick<Claims, 'summary'> & Partial<Claims>;

/** Everything that an arm may use. */
export interface ArmParts extends SystemParts {
  /** Opens the arm's own store: no arm finds the KV of another. */
  readonly openStore: OpenStore;
  /** Multiplies the values of injected memories. */
  readonly alpha: number;
  /** Least relevance at which a gate injects. */
  readonly gatingThreshold: number;
  /** The number type in which its KV is stored. */
  readonly keptAs: StoreType;
  /** How its blocks are made and placed; empty if the name has no such settings. */
  readonly blocks: BlockSettings;
}

/**
 * One arm: which memories are retrieved, and how they are placed before the question. The registry is the only list of
 * arms; a caller's own arm has the same traits and passes the same checks.
 *
 * @example
 * import { armRegistry, type ArmDefinition, RAGSystem } from 'dki-bench';
 * const bullets: ArmDefinition = {
 *   name: 'rag-bullets',
 *   traits: { summary: 'RAG with bullets in place of numbers' },
 *   open: (parts) => new RAGSystem({ ...parts, rules: { ...parts.rules, labels: 'bullet' } }),
 * };
 * const arms = armRegistry.with(bullets);
 * console.log(arms.names);
 */
export interface ArmDefinition {
  /** The base name, without argument and settings. */
  readonly name: string;
  /** The argument behind a colon, where the arm takes one. */
  readonly argument?: {
    readonly example: string;
    readonly pattern: RegExp;
  };
  /**
   * Behaviour and claims of the arm, which plan, checks, tables and figures use; a function where they depend on the
   * argument, on α (the name's setting, else the run's), or on settings of blocks.
   */
  readonly traits: OwnTraits | ((argument: string | null, alpha: number, blocks: BlockSettings) => OwnTraits);
  /** Capabilities without which the arm cannot run. Default: none. */
  requires?(argument: string | null, alpha: number, blocks: BlockSettings): readonly CapabilityName[];
  /** How it joins blocks, before settings; missing for an arm that joins none. */
  joins?(argument: string | null): JoinRecipe;
  /** A gate decides on each turn: its threshold must belong to the embedder. Default false. */
  readonly gated?: boolean;
  /** Its prompt shows the retriever's summary; not every retriever makes one. Default false. */
  readonly readsSummary?: boolean;
  /** Makes the system of the arm over the parts of a run; the runner disposes of it. */
  open(parts: ArmParts, argument: string | null): BenchSystem;
}
