import type { Engine } from '../engine/engine.ts';
import type { ArmTraits } from '../store/records/arm-traits.ts';
import type { MemorySearchResult } from '../retrieval/retriever.ts';
import type {
  AddMemoryOptions,
  BenchSystem,
  ChatRequest,
  ChatResponse,
  SearchOptions,
  SystemStats,
} from './contracts.ts';
import type { OpenStore, PrefillStrategy } from './prefill/prefill-strategy.ts';
import { CachedTextPrefill, EngineCachePrefill, TextPrefill } from './prefill/text-prefill.ts';
import { retrieveFor } from './retrieve.ts';
import type { SystemParts } from './system-parts.ts';
import { type KeptKv, TurnPipeline } from './turn-pipeline.ts';

/** The parts of a system that puts its memories into the prompt as text. */
export interface RAGSystemParts extends SystemParts {
  /**
   * The longest beginning of an earlier prompt is reused: from checkpoints in a store that this opens, or by the engine's own
   * prefix cache where there are none. Default: nothing is.
   */
  readonly prefixCache?: OpenStore;
  /** The memories that it retrieves for itself. Default `retrieved`. */
  readonly retrieves?: ArmTraits['retrieves'];
  /** Written into the conversation log. Default `rag`. */
  readonly injectionMode?: string;
}

/**
 * Retrieval-augmented generation: retrieved memories as text in the prompt, within half of the window that is left, then as
 * much of the newest history as fits.
 *
 * @example
 * import { openSystem } from 'dki-bench';
 * await using system = await openSystem({ arm: 'rag' });
 * const { text } = await system.chat({ query: 'Where do I live?', sessionId: 'session-1', userId: 'ada' });
 * console.log(text);
 */
export class RAGSystem implements BenchSystem {
  readonly #parts: RAGSystemParts;
  readonly #pipeline: TurnPipeline;

  constructor(parts: RAGSystemParts) {
    const { prefixCache, retrieves = 'retrieved' } = parts;
    this.#parts = parts;
    this.#pipeline = new TurnPipeline({
      ...parts,
      retrieve: (request, history) => retrieveFor(request, { ...parts, retrieves }, history),
      openStrategy: async ({ engine }) =>
        prefixCache === undefined ? new TextPrefill() : await openCachedPrefill(engine, prefixCache),
      injectionMode: parts.injectionMode ?? 'rag',
      action: 'rag_generate',
    });
  }

  chat(request: ChatRequest): Promise<ChatResponse> {
    return this.#pipeline.run(request);
  }

  /** Replacing a memory deletes all KV of earlier prompts that contains the old one before the call returns. */
  async addMemory(sessionId: string, content: string, options: AddMemoryOptions = {}): Promise<string> {
    const { memories } = this.#parts;
    const { userId = '', memoryId } = options;
    if (memoryId === undefined) return memories.add(sessionId, content, options);
    return this.#pipeline.betweenTurns(async (kept) => {
      await this.#forget(kept, userId, memoryId);
      return memories.add(sessionId, content, options);
    });
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
    const { rules, topK, threshold, memories } = this.#parts;
    return { router: memories.stats(), config: { ...rules, topK, threshold }, ...this.#pipeline.stats() };
  }

  forgetMemory(userId: string, memoryId: string): Promise<number> {
    return this.#pipeline.betweenTurns((kept) => this.#forget(kept, userId, memoryId));
  }

  reset(): Promise<void> {
    return this.#pipeline.betweenTurns((kept) => kept.reset());
  }

  /** Closes the system: turns that run end, those that wait reject. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pipeline.dispose();
  }

  /** Text alone keeps no KV: its engine need not be opened for that. */
  async #forget(kept: KeptKv, userId: string, memoryId: string): Promise<number> {
    return this.#parts.prefixCache === undefined ? 0 : kept.forget(userId, memoryId);
  }
}

async function openCachedPrefill(engine: Engine, openStore: OpenStore): Promise<PrefillStrategy> {
  const { checkpoints, prefixCache, leastTokens } = engine.capabilities;
  return !checkpoints && prefixCache?.span === 'engine'
    ? new EngineCachePrefill(prefixCache.blockTokens)
    : new CachedTextPrefill((await openStore(engine)).store, leastTokens);
}
