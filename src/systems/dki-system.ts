import { BenchError } from '../base/bench-error.ts';
import type { Engine } from '../engine/engine.ts';
import { type Eviction, evictionName } from '../kv/eviction.ts';
import { kvOperations } from '../kv/kv-operations.ts';
import type { ArmTraits } from '../store/records/arm-traits.ts';
import type { StoreType } from '../store/records/prefill-record.ts';
import { SingleSessionSystem } from './single-session-system.ts';
import { keptSinkTokens } from './prefill/sink-tokens.ts';
import { dualFactorGate, PAPER_RELEVANCE_THRESHOLD } from './prefill/dual-factor-gate.ts';
import { ExactPrefixPrefill } from './prefill/exact-prefix-prefill.ts';
import { type JoinRecipe, recipeName } from './prefill/join-recipe.ts';
import { JoinedBlocksPrefill } from './prefill/joined-blocks-prefill.ts';
import type { OpenStore, PrefillStrategy } from './prefill/prefill-strategy.ts';
import type { SystemParts } from './answer-turn.ts';

/** The parts of a system that injects its memories as KV. */
export interface DKISystemParts extends SystemParts {
  /** Opens the store of KV on disk; blocks are in memory too, within as many bytes. */
  readonly openStore: OpenStore;
  /** The prefill strategy: one exact prefix, or joined blocks. Default `prefix`. */
  readonly prefill?: 'prefix' | JoinRecipe;
  /**
   * Each head of each layer drops tokens from the KV of memories before it is stored, never from the header: of the prefix,
   * or of each block. Not with a recipe that recomputes. Default none.
   */
  readonly evict?: Eviction;
  /** The type in which KV is stored, on disk and in memory. Default `f16`: as the engine has it. */
  readonly keptAs?: StoreType;
  /** The memories that it retrieves for itself. Default `retrieved`. */
  readonly retrieves?: ArmTraits['retrieves'];
  /** Leaves the KV of a prefix in the session, so that the same set of memories is not even loaded. Default false. */
  readonly keepsSession?: boolean;
  /** Computes the blocks of a memory when it is added, one for each number that a prompt may label it with. Default false. */
  readonly ahead?: boolean;
  /** Multiplies the values of injected memories, never the header's. Default 1, which leaves them as they are. */
  readonly alpha?: number;
  /** Injects only if retrieval is relevant enough, with the larger α the less certain the model is. Default off. */
  readonly gating?: {
    readonly kind: 'dual-factor';
    /** Least relevance, for the embedder that retrieves. Default 0.7, the paper's for its own embedder. */
    readonly threshold?: number;
  };
  /** Hybrid: the user's preferences as KV in front, all else that is retrieved as text behind them. Default false. */
  readonly preferencesOnly?: boolean;
}

/**
 * Dynamic KV injection: the KV of memories is computed once, stored, and loaded in front of the rest of the prompt; as one
 * prefix, exactly what RAG has in its prompt, or as joined blocks, which do not attend to each other. It saves evaluation,
 * not cells.
 *
 * @example
 * import { openSystem } from 'dki-bench';
 * await using system = await openSystem({ arm: 'dki-blocks' });
 * const { trace } = await system.chat({ query: 'Where do I live?', sessionId: 'session-1', userId: 'ada' });
 * console.log(trace.account.resident, 'cells injected,', trace.account.evaluated, 'tokens evaluated');
 */
export class DKISystem extends SingleSessionSystem {
  constructor(given: DKISystemParts) {
    const parts = { ...defaults, ...given };
    const { rules, topK, threshold, prefill, evict, keptAs, alpha, ahead, gating, preferencesOnly } = parts;
    requireWholeBlocks(parts);
    super({
      ...parts,
      rules: injectionRules(parts),
      // Memories that share positions may take more cells than the window has positions.
      fillsCells: prefill !== 'prefix' && prefill.positions === 'parallel' && rules.memoryShare === 1,
      openStrategy: ({ engine }) => openStrategy(engine, parts),
      ...(gating === null ? {} : { gate: dualFactorGate(gating.threshold ?? PAPER_RELEVANCE_THRESHOLD) }),
      storesKv: true,
      injectionMode: `dki-${preferencesOnly ? 'hybrid' : modeName(parts)}`,
      action: 'dki_generate',
      config: {
        ...rules,
        topK,
        threshold,
        prefill: prefillName(prefill),
        evict: evict === null ? null : evictionName(evict),
        keptAs,
        alpha,
        ahead,
        gating,
        hybrid: preferencesOnly,
      },
    });
  }
}

const defaults = {
  prefill: 'prefix',
  evict: null,
  keptAs: 'f16',
  retrieves: 'retrieved',
  keepsSession: false,
  ahead: false,
  alpha: 1,
  gating: null,
  preferencesOnly: false,
  kv: kvOperations,
} as const;

/** The parts with their defaults. */
type Settings = Required<Omit<DKISystemParts, 'evict' | 'gating'>> & {
  readonly evict: Eviction | null;
  readonly gating: DKISystemParts['gating'] | null;
};

/** @throws BenchError `bad-option` for a recipe that recomputes tokens of blocks that evict some */
function requireWholeBlocks({ prefill, evict }: Pick<Settings, 'prefill' | 'evict'>): void {
  if (evict === null || prefill === 'prefix' || prefill.recompute === null) return;
  const hint = 'evict from blocks that are joined as they are, or recompute whole ones';
  throw new BenchError('bad-option', `${recipeName(prefill)} recomputes tokens of blocks that evict some`, hint);
}

function prefillName(prefill: Settings['prefill']): string {
  return prefill === 'prefix' ? prefill : recipeName(prefill);
}

function modeName({ prefill, evict }: Pick<Settings, 'prefill' | 'evict'>): string {
  const name = prefillName(prefill);
  if (evict === null) return name;
  return `${prefill === 'prefix' ? '' : `${name}-`}evict-${evictionName(evict)}`;
}

function injectionRules({ rules, preferencesOnly, prefill }: Settings): SystemParts['rules'] {
  return {
    ...rules,
    ...(preferencesOnly ? { prefix: 'preferences' } : {}),
    ...(prefill === 'prefix' ? {} : { sinkTokens: keptSinkTokens(prefill) }),
  };
}

async function openStrategy(engine: Engine, parts: Settings): Promise<PrefillStrategy> {
  const { openStore, rules, prefill, evict, keptAs, keepsSession, kv } = parts;
  if (evict !== null) requireGaps(engine);
  const { store, diskTiming } = await openStore(engine);
  const shared = { engine, kv, evict, keptAs, template: `${rules.template ?? 'plain'}/${rules.labels}` };
  if (prefill === 'prefix') return new ExactPrefixPrefill({ ...shared, store, keepsSession });
  const blocks = kv.openBlocks(store, store.stats().maxBytes, diskTiming, keptAs);
  return new JoinedBlocksPrefill({ ...shared, store: blocks, recipe: prefill });
}

/** @throws BenchError `unsupported` where an engine takes no cells with positions left out between them */
function requireGaps({ capabilities }: Engine): void {
  if (capabilities.cells?.gaps !== false) return;
  throw new BenchError(
    'unsupported',
    'eviction leaves positions without a cell, which the engine does not take',
    'choose an arm that evicts nothing, such as dki',
  );
}
