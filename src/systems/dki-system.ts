import { BenchError } from '../base/bench-error.ts';
import type { Engine } from '../engine/engine.ts';
import { type Eviction, evictionName } from '../kv/eviction-scores.ts';
import { kvTools } from '../kv/kv-tools.ts';
import type { ArmTraits } from '../store/records/arm-traits.ts';
import type { StoreType } from '../store/records/prefill-record.ts';
import { PipelineSystem } from './pipeline-system.ts';
import { keptSinkTokens } from './prefill/block-context.ts';
import { dualFactorGate, PAPER_RELEVANCE_THRESHOLD } from './prefill/dual-factor-gate.ts';
import { ExactPrefixPrefill } from './prefill/exact-prefix-prefill.ts';
import { type JoinRecipe, recipeName } from './prefill/join-recipe.ts';
import { JoinedPrefill } from './prefill/joined-prefill.ts';
import type { OpenStore, PrefillStrategy } from './prefill/prefill-strategy.ts';
import { retrieveFor, withPreferences } from './retrieve.ts';
import type { SystemParts } from './system-parts.ts';

/** The parts of a system that injects its memories as keys and values. */
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
  /** Computes the blocks of a memory when it is added, for every place that a prompt may give it. Default false. */
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
export class DKISystem extends PipelineSystem {
  constructor(parts: DKISystemParts) {
    const { memories, rules, topK, threshold, gating, prefill = 'prefix', evict, keptAs = 'f16' } = parts;
    const { alpha = 1, ahead = false, retrieves = 'retrieved', preferencesOnly = false } = parts;
    if (evict !== undefined && prefill !== 'prefix' && prefill.recompute !== null) {
      const hint = 'evict from blocks that are joined as they are, or recompute whole ones';
      throw new BenchError('bad-option', `${recipeName(prefill)} recomputes tokens of blocks that evict some`, hint);
    }
    super({
      ...parts,
      retrieve: async (request, history) => {
        const retrieved = await retrieveFor(request, { ...parts, retrieves }, history);
        if (!preferencesOnly) return retrieved;
        return withPreferences(retrieved, () => request.preferences ?? memories.preferences(request.userId ?? ''));
      },
      rules: {
        ...rules,
        ...(preferencesOnly ? { prefix: 'preferences' } : {}),
        ...(prefill === 'prefix' ? {} : { sinkTokens: keptSinkTokens(prefill) }),
      },
      // Its memories share positions: where all that is left is theirs, that is all cells.
      fillsCells: prefill !== 'prefix' && prefill.positions === 'parallel' && rules.memoryShare === 1,
      openStrategy: ({ engine }) => openStrategy(engine, parts),
      ...(gating === undefined ? {} : { gate: dualFactorGate(gating.threshold ?? PAPER_RELEVANCE_THRESHOLD) }),
      storesKv: true,
      injectionMode: `dki-${preferencesOnly ? 'hybrid' : modeName(parts)}`,
      action: 'dki_generate',
      config: {
        ...rules,
        topK,
        threshold,
        prefill: prefill === 'prefix' ? prefill : recipeName(prefill),
        evict: evict === undefined ? null : evictionName(evict),
        keptAs,
        alpha,
        ahead,
        gating: gating ?? null,
        hybrid: preferencesOnly,
      },
    });
  }
}

function modeName({ prefill = 'prefix', evict }: DKISystemParts): string {
  const name = prefill === 'prefix' ? prefill : recipeName(prefill);
  if (evict === undefined) return name;
  return `${name === 'prefix' ? '' : `${name}-`}evict-${evictionName(evict)}`;
}

async function openStrategy(engine: Engine, parts: DKISystemParts): Promise<PrefillStrategy> {
  const { openStore, rules, prefill = 'prefix', evict = null, keptAs = 'f16', keepsSession = false } = parts;
  const { kv = kvTools } = parts;
  if (evict !== null) requireGaps(engine);
  const { store, diskTiming } = await openStore(engine);
  const template = `${rules.template ?? 'plain'}/${rules.labels}`;
  if (prefill === 'prefix') {
    return new ExactPrefixPrefill({ engine, store, kv, evict, keptAs, template, keepsSession });
  }
  const blocks = kv.openBlocks(store, store.stats().maxBytes, diskTiming, keptAs);
  return new JoinedPrefill({ engine, store: blocks, kv, recipe: prefill, evict, keptAs, template });
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
