import type { StateStore } from '../../kv/state-store.ts';
import type { ModelSequence } from '../../llm/model-sequence.ts';
import type { MemorySearchResult } from '../../memory/memory-search-result.ts';
import type { BenchSystem } from '../bench-system.ts';
import type { AddMemoryOptions, ChatRequest, ChatResponse, SearchOptions, SystemStats } from '../contracts.ts';
import type { SystemParts } from '../system-parts.ts';
import { TurnPipeline } from '../turn-pipeline.ts';
import { CachedTextHandOver } from './cached-text-hand-over.ts';
import { TextHandOver } from './text-hand-over.ts';

/** The parts of a system that pastes its memories into the prompt. */
export interface RAGSystemParts extends SystemParts {
  /** Keeps the states of earlier prompts there and reuses the longest common beginning (`rag-cached`). */
  readonly prefixCache?: StateStore;
  /** What the tables of seed 004 call the way of injection. Default `rag`. */
  readonly injectionMode?: string;
}

/**
 * Retrieval-augmented generation: recalled memories as text in the prompt, within half of the window that is
 * left, then as much of the newest history as fits.
 * @see seed 004
 */
export class RAGSystem implements BenchSystem {
  readonly #parts: RAGSystemParts;
  readonly #pipeline: TurnPipeline;

  constructor(parts: RAGSystemParts) {
    const { memories, prefixCache } = parts;
    this.#parts = parts;
    this.#pipeline = new TurnPipeline({
      ...parts,
      recall: parts.recall ?? { search: (query, options) => memories.recall(query, options) },
      openHandOver: (model) => {
        const sequence = model.openSequence();
        return prefixCache === undefined ? new TextHandOver(sequence) : new CachedTextHandOver(sequence, prefixCache);
      },
      injectionMode: parts.injectionMode ?? 'rag',
      action: 'rag_generate',
    });
  }

  chat(request: ChatRequest): Promise<ChatResponse> {
    return this.#pipeline.run(request);
  }

  /** Replacing a memory deletes all K/V of earlier prompts that contains the old one before the call returns. */
  async addMemory(sessionId: string, content: string, options: AddMemoryOptions = {}): Promise<string> {
    if (options.memoryId !== undefined) this.forgetMemory(options.userId ?? '', options.memoryId);
    return this.#parts.memories.add(sessionId, content, options);
  }

  loadMemoriesFromDb(sessionId: string): Promise<number> {
    return this.#parts.memories.load(sessionId);
  }

  async searchMemories(query: string, options: SearchOptions = {}): Promise<readonly MemorySearchResult[]> {
    const { topK, threshold } = this.#parts;
    return (await this.#parts.memories.recall(query, { topK, threshold, ...options })).memories;
  }

  getStats(): SystemStats {
    const { rules, topK, threshold, prefixCache } = this.#parts;
    return {
      router: this.#parts.memories.stats(),
      model: this.#pipeline.modelInfo,
      config: { ...rules, topK, threshold },
      ...(prefixCache === undefined ? {} : { kvStore: { ...prefixCache.stats() } }),
    };
  }

  replay(sequence: ModelSequence): Promise<readonly number[]> {
    return this.#pipeline.replay(sequence);
  }

  forgetMemory(userId: string, memoryId: string): number {
    this.#pipeline.forget(userId, memoryId);
    return this.#parts.prefixCache?.forgetMemory(userId, memoryId) ?? 0;
  }

  reset(): void {
    this.#pipeline.reset();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pipeline[Symbol.asyncDispose]();
  }
}
