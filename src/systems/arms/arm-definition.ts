import type { CapabilityName } from '../../engine/engine-capabilities.ts';
import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { StoreType } from '../../store/records/prefill-record.ts';
import type { BenchSystem } from '../contracts.ts';
import type { OpenStore } from '../prefill/prefill-strategy.ts';
import type { JoinRecipe } from '../prefill/join-recipe.ts';
import type { SystemParts } from '../answer-turn.ts';
import type { BlockSettings } from './block-settings.ts';

type Claims = Omit<ArmTraits, 'name' | 'base' | 'settings' | 'reference'>;

/**
 * Traits of one arm. All but the summary have a default: it retrieves like `rag`, injects nothing, claims no equivalence, is
 * no control, is compared without a planned test, and has a mark of its own in figures.
 */
export type OwnTraits = Pick<Claims, 'summary'> & Partial<Claims>;

/** Everything that an arm may be made of. */
export interface ArmParts extends SystemParts {
  /** A store of the arm's own: arms never find each other's KV. */
  readonly openStore: OpenStore;
  /** Multiplies the values of injected memories. */
  readonly alpha: number;
  /** Least relevance at which a gate injects. */
  readonly gatingThreshold: number;
  /** The type in which its KV is kept. */
  readonly keptAs: StoreType;
  /** How its blocks are made and placed; empty where the name says nothing of it. */
  readonly blocks: BlockSettings;
}

/**
 * One arm: an answer to what is retrieved and to how it gets in front of the question. The registry is the only list of
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
  /** Without argument and settings. */
  readonly name: string;
  /** The argument behind a colon, where the arm takes one. */
  readonly argument?: {
    readonly example: string;
    readonly pattern: RegExp;
  };
  /**
   * Behaviour and claims of the arm, by which plan, checks, tables and figures know it; a function where they depend on the
   * argument, on α (the name's setting, else the run's), or on settings of blocks.
   */
  readonly traits: OwnTraits | ((argument: string | null, alpha: number, blocks: BlockSettings) => OwnTraits);
  /** Capabilities without which the arm cannot run. Default: none. */
  requires?(argument: string | null, alpha: number, blocks: BlockSettings): readonly CapabilityName[];
  /** The way in which it joins blocks, without settings; missing for an arm that joins none. */
  joins?(argument: string | null): JoinRecipe;
  /** A gate decides on each turn: its threshold must belong to the embedder. Default false. */
  readonly gated?: boolean;
  /** Its prompt shows the summary of the retriever, which some make and others do not. Default false. */
  readonly readsSummary?: boolean;
  /** Makes the system of the arm over the parts of a run; the runner disposes of it. */
  open(parts: ArmParts, argument: string | null): BenchSystem;
}
