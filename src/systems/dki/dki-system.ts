import type { StateStore } from '../../kv/state-store.ts';
import type { ModelSequence } from '../../llm/model-sequence.ts';
import type { MemorySearchResult } from '../../memory/memory-search-result.ts';
import type { BenchSystem } from '../bench-system.ts';
import type { AddMemoryOptions, ChatRequest, ChatResponse, SearchOptions, SystemStats } from '../contracts.ts';
import { timedRecall } from '../recall.ts';
import type { SystemParts } from '../system-parts.ts';
import { TurnPipeline } from '../turn-pipeline.ts';
import { PrefixHandOver } from './prefix-hand-over.ts';

/** The parts of a system that injects its memories as keys and values. */
export interface DKISystemParts extends SystemParts {
  readonly store: StateStore;
}

/**
 * Dynamic K/V injection in mode `prefix`: header and memories are computed once for each ordered set of memories,
 * kept, and loaded in front of the rest of the prompt. What it saves is evaluation; the cells are filled all the same.
 */
export class DKISystem implements BenchSystem {
  readonly #parts: DKISystemParts;
  readonly #pipeline: TurnPipeline;

  constructor(parts: DKISystemParts) {
    const { memories, store } = parts;
    this.#parts = parts;
    this.#pipeline = new TurnPipeline({
      ...parts,
      recall: parts.recall ?? { search: (query, options) => timedRecall(() => memories.search(query, options)) },
      openHandOver: (model) => new PrefixHandOver(model, model.openSequence(), store, `plain/${parts.rules.labels}`),
      injectionMode: 'dki-prefix',
      action: 'dki_generate',
    });
  }

  chat(request: ChatRequest): Promise<ChatResponse> {
    return this.#pipeline.run(request);
  }

  /** Replacing a memory deletes all K/V that contains the old one before the call returns. */
  async addMemory(sessionId: string, content: string, options: AddMemoryOptions = {}): Promise<string> {
    if (options.memoryId !== undefined) this.#parts.store.forgetMemory(options.userId ?? '', options.memoryId);
    return this.#parts.memories.add(sessionId, content, options);
  }

  /** Removes a memory and all K/V that contains it before it returns; false where there was none. */
  removeMemory(sessionId: string, memoryId: string, userId?: string): boolean {
    this.#parts.store.forgetMemory(userId ?? '', memoryId);
    return this.#parts.memories.remove(sessionId, memoryId, userId);
  }

  loadMemoriesFromDb(sessionId: string): Promise<number> {
    return this.#parts.memories.load(sessionId);
  }

  searchMemories(query: string, options: SearchOptions = {}): Promise<MemorySearchResult[]> {
    return this.#parts.memories.search(query, { topK: this.#parts.topK, threshold: this.#parts.threshold, ...options });
  }

  getStats(): SystemStats {
    const { rules, topK, threshold, store } = this.#parts;
    return {
      router: this.#parts.memories.stats(),
      model: this.#pipeline.modelInfo,
      config: { ...rules, topK, threshold, mode: 'prefix' },
      kvStore: { ...store.stats() },
    };
  }

  replay(sequence: ModelSequence): Promise<readonly number[]> {
    return this.#pipeline.replay(sequence);
  }

  reset(): void {
    this.#pipeline.reset();
  }

  /** Gives the sequence back to the model, which stays open. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pipeline[Symbol.asyncDispose]();
  }
}
