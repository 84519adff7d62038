import type { Engine } from '../engine/engine.ts';
import { BenchError } from '../base/bench-error.ts';
import { type Eviction, evictionName } from '../kv/eviction-scores.ts';
import { kvTools } from '../kv/kv-tools.ts';
import type { ArmTraits } from '../store/records/arm-traits.ts';
import type { StoreType } from '../store/records/store-type.ts';
import type { MemorySearchResult } from '../retrieval/retriever.ts';
import type {
  AddMemoryOptions,
  BenchSystem,
  ChatRequest,
  ChatResponse,
  PrepareOptions,
  RetrievedMemories,
  SearchOptions,
  SystemStats,
} from './contracts.ts';
import type { OpenStore, PrefillStrategy } from './prefill/prefill-strategy.ts';
import { dualFactorGate, PAPER_RELEVANCE_THRESHOLD } from './prefill/dual-factor-gate.ts';
import { ExactPrefixPrefill } from './prefill/exact-prefix-prefill.ts';
import { type JoinRecipe, recipeName } from './prefill/join-recipe.ts';
import { JoinedPrefill } from './prefill/joined-prefill.ts';
import { keptSinkTokens } from './prefill/block-context.ts';
import type { MemoryText } from './prompt/memory-lines.ts';
import { retrieveFor, withPreferences } from './retrieve.ts';
import type { SystemParts } from './system-parts.ts';
import { type KeptKv, TurnPipeline } from './turn-pipeline.ts';

/** The parts of a system that injects its memories as keys and values. */
export interface DKISystemParts extends SystemParts {
  /** Keeps KV on disk; blocks in memory too, within as many bytes. */
  readonly openStore: OpenStore;
  /** The prefill strategy: one exact prefix, or joined blocks. Default `prefix`. */
  readonly prefill?: 'prefix' | JoinRecipe;
  /**
   * Tokens that each head of each layer drops from the KV of memories before it is kept, never from the header: of the prefix, or
   * of each block. Not with a recipe that recomputes. Default none.
   */
  readonly evict?: Eviction;
  /** The type in which KV is kept, on disk and in memory, and from which it is restored. Default `f16`: as the engine has it. */
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
 * Dynamic KV injection: the KV of memories is computed once, kept, and loaded in front of the rest of the prompt; as one
 * prefix, exactly what RAG has in its prompt, or as joined blocks, which do not see each other. It saves evaluation; the
 * cells are filled all the same.
 *
 * @example
 * import { openSystem } from 'dki-bench';
 * await using system = await openSystem({ arm: 'dki-blocks' });
 * const { trace } = await system.chat({ query: 'Where do I live?', sessionId: 'session-1', userId: 'ada' });
 * console.log(trace.account.resident, 'cells injected,', trace.account.evaluated, 'tokens evaluated');
 */
export class DKISystem implements BenchSystem {
  readonly #parts: DKISystemParts;
  readonly #pipeline: TurnPipeline;
  /** Memories whose blocks were computed ahead. */
  readonly #prepared = new Set<string>();

  constructor(parts: DKISystemParts) {
    const { gating, prefill = 'prefix', evict, preferencesOnly = false } = parts;
    if (evict !== undefined && prefill !== 'prefix' && prefill.recompute !== null) {
      const hint = 'evict from blocks that are joined as they are, or recompute whole ones';
      throw new BenchError('bad-option', `${recipeName(prefill)} recomputes tokens of blocks that evict some`, hint);
    }
    this.#parts = parts;
    this.#pipeline = new TurnPipeline({
      ...parts,
      retrieve: (request, history) => this.#retrieve(request, history),
      rules: {
        ...parts.rules,
        ...(preferencesOnly ? { prefix: 'preferences' } : {}),
        ...(prefill === 'prefix' ? {} : { sinkTokens: keptSinkTokens(prefill) }),
      },
      // Its memories share positions: where all that is left is theirs, that is all cells.
      fillsCells: prefill !== 'prefix' && prefill.positions === 'parallel' && parts.rules.memoryShare === 1,
      openStrategy: ({ engine }) => this.#openStrategy(engine),
      ...(gating === undefined ? {} : { gate: dualFactorGate(gating.threshold ?? PAPER_RELEVANCE_THRESHOLD) }),
      injectionMode: `dki-${preferencesOnly ? 'hybrid' : this.#modeName}`,
      action: 'dki_generate',
    });
  }

  chat(request: ChatRequest): Promise<ChatResponse> {
    return this.#pipeline.run(request);
  }

  /** Replacing a memory deletes all KV that contains the old one before the call returns. */
  async addMemory(sessionId: string, content: string, options: AddMemoryOptions = {}): Promise<string> {
    const { memories, ahead = false } = this.#parts;
    const { userId = '', memoryId } = options;
    if (memoryId === undefined && !ahead) return memories.add(sessionId, content, options);
    return this.#pipeline.betweenTurns(async (kept) => {
      if (memoryId !== undefined) await this.#forget(kept, userId, memoryId);
      const id = await memories.add(sessionId, content, options);
      await this.#prepare(kept, userId, [{ memoryId: id, content }]);
      return id;
    });
  }

  /** Computes the blocks of memories that were not given before, where that is done ahead. */
  async prepare(userId: string, memories: readonly MemoryText[], options: PrepareOptions = {}): Promise<void> {
    if (this.#parts.ahead !== true) return;
    await this.#pipeline.betweenTurns((kept) => this.#prepare(kept, userId, memories, options), options);
  }

  removeMemory(sessionId: string, memoryId: string, userId?: string): Promise<boolean> {
    return this.#pipeline.betweenTurns(async (kept) => {
      await this.#forget(kept, userId ?? '', memoryId);
      return this.#parts.memories.remove(sessionId, memoryId, userId);
    });
  }

  loadMemoriesFromDb(sessionId: string): Promise<number> {
    return this.#parts.memories.load(sessionId);
  }

  searchMemories(query: string, options: SearchOptions = {}): Promise<readonly MemorySearchResult[]> {
    return this.#parts.memories.search(query, { ...this.#parts, ...options });
  }

  /** Counts and settings at this moment. */
  getStats(): SystemStats {
    const {
      memories,
      rules,
      topK,
      threshold,
      alpha = 1,
      ahead = false,
      evict,
      gating,
      preferencesOnly = false,
    } = this.#parts;
    return {
      router: memories.stats(),
      config: {
        ...rules,
        topK,
        threshold,
        prefill: this.#prefillName,
        evict: evict === undefined ? null : evictionName(evict),
        keptAs: this.#parts.keptAs ?? 'f16',
        alpha,
        ahead,
        gating: gating ?? null,
        hybrid: preferencesOnly,
      },
      ...this.#pipeline.stats(),
    };
  }

  forgetMemory(userId: string, memoryId: string): Promise<number> {
    return this.#pipeline.betweenTurns((kept) => this.#forget(kept, userId, memoryId));
  }

  reset(): Promise<void> {
    return this.#pipeline.betweenTurns((kept) => {
      this.#prepared.clear();
      return kept.reset();
    });
  }

  /** Closes the system: turns that run end, those that wait reject. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pipeline.dispose();
  }

  #forget(kept: KeptKv, userId: string, memoryId: string): Promise<number> {
    // A memory that is given again is looked for: KV that is still there is found.
    this.#prepared.clear();
    return kept.forget(userId, memoryId);
  }

  async #prepare(
    kept: KeptKv,
    userId: string,
    memories: readonly MemoryText[],
    options: PrepareOptions = {},
  ): Promise<void> {
    if (this.#parts.ahead !== true) return;
    const keyOf = ({ memoryId, content }: MemoryText): string => JSON.stringify([userId, memoryId, content]);
    const added = memories.filter((memory) => !this.#prepared.has(keyOf(memory)));
    if (added.length === 0) return;
    await kept.prepare(userId, added, options);
    for (const memory of added) this.#prepared.add(keyOf(memory));
  }

  get #prefillName(): string {
    const { prefill = 'prefix' } = this.#parts;
    return prefill === 'prefix' ? prefill : recipeName(prefill);
  }

  get #modeName(): string {
    const { evict } = this.#parts;
    if (evict === undefined) return this.#prefillName;
    const front = this.#prefillName === 'prefix' ? '' : `${this.#prefillName}-`;
    return `${front}evict-${evictionName(evict)}`;
  }

  async #retrieve(request: ChatRequest, history: NonNullable<ChatRequest['history']>): Promise<RetrievedMemories> {
    const { memories, retrieves = 'retrieved', preferencesOnly = false } = this.#parts;
    const retrieved = await retrieveFor(request, { ...this.#parts, retrieves }, history);
    if (!preferencesOnly) return retrieved;
    return withPreferences(retrieved, () => request.preferences ?? memories.preferences(request.userId ?? ''));
  }

  async #openStrategy(engine: Engine): Promise<PrefillStrategy> {
    const { openStore, rules, prefill = 'prefix', evict = null, keptAs = 'f16', keepsSession = false } = this.#parts;
    const { kv = kvTools } = this.#parts;
    if (evict !== null) requireGaps(engine);
    const { store, diskTiming } = await openStore(engine);
    const template = `${rules.template ?? 'plain'}/${rules.labels}`;
    if (prefill === 'prefix')
      return new ExactPrefixPrefill({ engine, store, kv, evict, keptAs, template, keepsSession });
    const blocks = kv.openBlocks(store, store.stats().maxBytes, diskTiming, keptAs);
    return new JoinedPrefill({ engine, store: blocks, kv, recipe: prefill, evict, keptAs, template });
  }
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
