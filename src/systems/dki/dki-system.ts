import { BlockStore, type DiskTiming } from '../../kv/block-store.ts';
import type { StateStore } from '../../kv/state-store.ts';
import type { LanguageModel } from '../../llm/language-model.ts';
import type { ModelSequence } from '../../llm/model-sequence.ts';
import type { MemorySearchResult } from '../../memory/memory-search-result.ts';
import type { BenchSystem } from '../bench-system.ts';
import type { AddMemoryOptions, ChatRequest, ChatResponse, SearchOptions, SystemStats } from '../contracts.ts';
import type { MemoryToCome } from '../lines-to-come.ts';
import type { Recall } from '../recall.ts';
import type { SystemParts } from '../system-parts.ts';
import { TurnPipeline } from '../turn-pipeline.ts';
import { dualFactorGate, PAPER_RELEVANCE_THRESHOLD } from './dual-factor-gate.ts';
import { type InjectionMode, modeName } from './injection-mode.ts';
import { JoinedHandOver } from './joined-hand-over.ts';
import type { HandOver } from '../hand-over.ts';
import { PrefixHandOver } from './prefix-hand-over.ts';
import { withPreferences } from './with-preferences.ts';

/** The parts of a system that injects its memories as keys and values. */
export interface DKISystemParts extends SystemParts {
  /** Keeps K/V on disk; blocks in memory besides, within as many bytes. */
  readonly store: StateStore;
  /** When blocks reach the disk: `when-evicted` where nobody opens the folder of the store again. Default `at-once`. */
  readonly diskTiming?: DiskTiming;
  /** Default `prefix`. */
  readonly mode?: InjectionMode;
  /** Leaves the K/V of a prefix in the sequence, so that the same set of memories is not even loaded. Default off. */
  readonly staysResident?: boolean;
  /** Computes the blocks of a memory when it is added, at every place that a prompt may give it. Default off. */
  readonly ahead?: boolean;
  /** Multiplies the values of injected memories, never the header's. Default 1, which leaves them as they are. */
  readonly alpha?: number;
  /** Injects only where recall is relevant enough, and the more strongly the less certain the model is. Default off. */
  readonly gating?: {
    readonly kind: 'dual-factor';
    /** Least relevance, for the embedder that recalls. Default 0.7, the paper's for its own embedder. */
    readonly threshold?: number;
  };
  /** Hybrid: all preferences of the user as K/V in front, what is recalled besides as text behind them. Default off. */
  readonly preferences?: (userId: string) => readonly MemorySearchResult[];
}

/**
 * Dynamic K/V injection: memories are computed once, kept, and loaded in front of the rest of the prompt; as one prefix,
 * exactly what RAG has in its prompt, or as blocks that are joined, which memories do not see each other.
 * What it saves is evaluation; the cells are filled all the same.
 */
export class DKISystem implements BenchSystem {
  readonly #parts: DKISystemParts;
  readonly #pipeline: TurnPipeline;
  readonly #mode: InjectionMode;
  readonly #blocks: BlockStore;
  /** Memories whose blocks were computed ahead. */
  readonly #prepared = new Set<string>();

  constructor(parts: DKISystemParts) {
    const { memories, store, gating, preferences } = parts;
    this.#parts = parts;
    this.#mode = parts.mode ?? 'prefix';
    this.#blocks = new BlockStore(store, store.stats().maxBytes, parts.diskTiming);
    const recall: Recall = parts.recall ?? {
      search: (query, options) => memories.recall(query, options),
    };
    this.#pipeline = new TurnPipeline({
      ...parts,
      recall: preferences === undefined ? recall : withPreferences(recall, preferences),
      rules: preferences === undefined ? parts.rules : { ...parts.rules, prefix: 'preferences' },
      // Its memories share positions: where all that is left is theirs, that is all cells.
      fillsCells: this.#mode === 'parallel' && parts.rules.memoryShare === 1,
      openHandOver: (model) => this.#openHandOver(model),
      ...(gating === undefined ? {} : { gate: dualFactorGate(gating.threshold ?? PAPER_RELEVANCE_THRESHOLD) }),
      injectionMode: `dki-${preferences === undefined ? modeName(this.#mode) : 'hybrid'}`,
      action: 'dki_generate',
    });
  }

  chat(request: ChatRequest): Promise<ChatResponse> {
    return this.#pipeline.run(request);
  }

  /** Replacing a memory deletes all K/V that contains the old one before the call returns. */
  async addMemory(sessionId: string, content: string, options: AddMemoryOptions = {}): Promise<string> {
    if (options.memoryId !== undefined) this.forgetMemory(options.userId ?? '', options.memoryId);
    const memoryId = await this.#parts.memories.add(sessionId, content, options);
    await this.prepare(options.userId ?? '', [{ memoryId, content }]);
    return memoryId;
  }

  /** Computes the blocks of memories that were not given before, where that is done ahead. */
  async prepare(userId: string, memories: readonly MemoryToCome[]): Promise<void> {
    if (this.#parts.ahead !== true) return;
    const keyOf = ({ memoryId, content }: MemoryToCome): string => JSON.stringify([userId, memoryId, content]);
    const added = memories.filter((memory) => !this.#prepared.has(keyOf(memory)));
    if (added.length === 0) return;
    await this.#pipeline.prepare(userId, added);
    for (const memory of added) this.#prepared.add(keyOf(memory));
  }

  /** Removes a memory and all K/V that contains it before it returns; false where there was none. */
  async removeMemory(sessionId: string, memoryId: string, userId?: string): Promise<boolean> {
    this.forgetMemory(userId ?? '', memoryId);
    return this.#parts.memories.remove(sessionId, memoryId, userId);
  }

  loadMemoriesFromDb(sessionId: string): Promise<number> {
    return this.#parts.memories.load(sessionId);
  }

  async searchMemories(query: string, options: SearchOptions = {}): Promise<readonly MemorySearchResult[]> {
    const { topK, threshold } = this.#parts;
    return (await this.#parts.memories.recall(query, { topK, threshold, ...options })).memories;
  }

  getStats(): SystemStats {
    const { rules, topK, threshold, alpha = 1, gating, preferences } = this.#parts;
    return {
      router: this.#parts.memories.stats(),
      model: this.#pipeline.modelInfo,
      config: {
        ...rules,
        topK,
        threshold,
        mode: modeName(this.#mode),
        alpha,
        ahead: this.#parts.ahead ?? false,
        gating: gating ?? null,
        hybrid: preferences !== undefined,
      },
      kvStore: { ...this.#blocks.stats() },
    };
  }

  replay(sequence: ModelSequence): Promise<readonly number[]> {
    return this.#pipeline.replay(sequence);
  }

  forgetMemory(userId: string, memoryId: string): number {
    // Whatever is given again is looked for: what is there still is found.
    this.#prepared.clear();
    this.#pipeline.forget(userId, memoryId);
    return this.#blocks.forgetMemory(userId, memoryId);
  }

  reset(): void {
    this.#prepared.clear();
    this.#pipeline.reset();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pipeline[Symbol.asyncDispose]();
    this.#blocks[Symbol.dispose]();
  }

  #openHandOver(model: LanguageModel): HandOver {
    const { store, rules } = this.#parts;
    const template = `${rules.template ?? 'plain'}/${rules.labels}`;
    return this.#mode === 'prefix'
      ? new PrefixHandOver(model, store, template, this.#parts.staysResident)
      : new JoinedHandOver(model, this.#mode, this.#blocks, store, template);
  }
}
