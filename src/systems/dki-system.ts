import { BenchError } from '../base/bench-error.ts';
import type { Engine } from '../engine/engine.ts';
import { type Eviction, evictionName, seesQuestion } from '../kv/eviction-rule-and-share.ts';
import { kvOperations } from '../kv/kv-operations.ts';
import type { ArmTraits } from '../store/records/arm-traits.ts';
import type { StoreType } from '../store/records/prefill-record.ts';
import { SingleSessionSystem } from './single-session-system.ts';
import { dualFactorGate, PAPER_RELEVANCE_THRESHOLD } from './prefill/dual-factor-gate.ts';
import { ExactPrefixPrefill } from './prefill/exact-prefix-prefill.ts';
import { type JoinRecipe, keptSinkTokens, makingOf, recipeName } from './prefill/join-recipe.ts';
import { JoinedBlocksPrefill } from './prefill/joined-blocks-prefill.ts';
import type { OpenStore, PrefillStrategy } from './prefill/prefill-strategy.ts';
import type { Repair } from './prefill/repaired-blocks.ts';
import type { SystemParts } from './answer-turn.ts';

/** The parts of a system that injects memories as KV. */
export interface DKISystemParts extends SystemParts {
  /** Opens the KV store on disk. Blocks are also cached in memory, up to the same number of bytes. */
  readonly openStore: OpenStore;
  /** The prefill strategy: one exact prefix, or joined blocks. Default `prefix`. */
  readonly prefill?: 'prefix' | JoinRecipe;
  /**
   * Evicts tokens from the memories' KV before it is stored, separately in each head of each layer; never from the header.
   * Cannot be combined with recomputed tokens. Default: none.
   */
  readonly evict?: Eviction;
  /** Joins the whole blocks of some memories, although their tokens were evicted. Only for blocks. Default: none. */
  readonly repair?: Repair;
  /** Number type of stored KV, on disk and in memory. Default `f16`: as in the engine. */
  readonly keptAs?: StoreType;
  /** Which memories the system retrieves if the request brings none. Default `retrieved`. */
  readonly retrieves?: ArmTraits['retrieves'];
  /** Leaves the prefix in the session, so that the next turn with the same memories need not load it. Default false. */
  readonly keepsSession?: boolean;
  /** Computes a memory's blocks when it is added: one for each number that may label it in a prompt. Default false. */
  readonly ahead?: boolean;
  /** Multiplies the values of injected memories, not those of the header. Default 1. */
  readonly alpha?: number;
  /** Injects only if retrieval is relevant enough, with a larger α the less certain the model is. Default: off. */
  readonly gating?: {
    readonly kind: 'dual-factor';
    /** Minimum relevance; depends on the embedder. Default 0.7, the paper's threshold for its embedder. */
    readonly threshold?: number;
  };
  /** Hybrid: injects the user's preferences as KV; other retrieved memories follow as text. Default false. */
  readonly preferencesOnly?: boolean;
}

/**
 * Dynamic KV injection: the KV of memories is computed once, stored, and loaded before the rest of the prompt: either as one
 * prefix with exactly the tokens of the RAG prompt, or as joined blocks, which do not attend to each other. This saves
 * evaluation, not KV memory.
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
    const { rules, topK, threshold, prefill, evict, repair, keptAs, alpha, ahead, gating, preferencesOnly } = parts;
    requireWholeBlocks(parts);
    requireQuestion(parts);
    super({
      ...parts,
      rules: injectionRules(parts),
      // Memories at shared positions may take more cells than the window has positions.
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
        prefill: prefillName(prefill),
        evict: evict === undefined ? null : evictionName(evict),
        ...(repair === undefined ? {} : { repair }),
        keptAs,
        alpha,
        ahead,
        gating: gating ?? null,
        hybrid: preferencesOnly,
      },
    });
  }
}

const defaults = {
  prefill: 'prefix',
  keptAs: 'f16',
  retrieves: 'retrieved',
  keepsSession: false,
  ahead: false,
  alpha: 1,
  preferencesOnly: false,
  kv: kvOperations,
} as const;

/** The parts with defaults filled in. */
type Settings = DKISystemParts & Required<Pick<DKISystemParts, keyof typeof defaults>>;

/** @throws BenchError `bad-option` if a recipe recomputes tokens and blocks evict some */
function requireWholeBlocks({ prefill, evict }: Pick<Settings, 'prefill' | 'evict'>): void {
  if (evict === undefined || prefill === 'prefix' || prefill.recompute === null) return;
  const hint = 'use eviction without recomputation, or recomputation without eviction';
  const message = `${recipeName(prefill)} recomputes tokens, which evicted blocks do not allow`;
  throw new BenchError('bad-option', message, hint);
}

/** @throws BenchError `bad-option` if a rule that needs the question would evict without one, or after other cells */
function requireQuestion({ prefill, evict, ahead }: Pick<Settings, 'prefill' | 'evict' | 'ahead'>): void {
  if (evict === undefined || !seesQuestion(evict)) return;
  if (!ahead && (prefill === 'prefix' || makingOf(prefill) === undefined)) return;
  const message = `${evictionName(evict)} needs a question, and blocks that attend to the header`;
  throw new BenchError('bad-option', message, 'use another rule, or blocks that are computed by default in their turn');
}

function prefillName(prefill: Settings['prefill']): string {
  return prefill === 'prefix' ? prefill : recipeName(prefill);
}

function modeName({ prefill, evict }: Pick<Settings, 'prefill' | 'evict'>): string {
  const name = prefillName(prefill);
  if (evict === undefined) return name;
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
  const { openStore, rules, prefill, evict = null, keptAs, keepsSession, kv, computeBlock, repair } = parts;
  if (evict !== null) requireGaps(engine);
  const { store, diskTiming } = await openStore(engine);
  const shared = { engine, kv, evict, keptAs, template: `${rules.template ?? 'plain'}/${rules.labels}` };
  if (prefill === 'prefix') return new ExactPrefixPrefill({ ...shared, store, keepsSession });
  const blocks = kv.openBlocks(store, store.stats().maxBytes, diskTiming, keptAs);
  return new JoinedBlocksPrefill({ ...shared, store: blocks, recipe: prefill, computeBlock, repair });
}

/** @throws BenchError `unsupported` if the engine does not accept gaps between positions */
function requireGaps({ capabilities }: Engine): void {
  if (capabilities.cells?.gaps !== false) return;
  const message = 'eviction leaves gaps between positions, which the engine does not accept';
  throw new BenchError('unsupported', message, 'choose an arm that evicts nothing, such as dki');
}
