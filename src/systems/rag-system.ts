import type { Engine } from '../engine/engine.ts';
import type { ArmTraits } from '../store/records/arm-traits.ts';
import { SingleSessionSystem } from './single-session-system.ts';
import type { OpenStore, PrefillStrategy } from './prefill/prefill-strategy.ts';
import { CachedTextPrefill, EngineCachePrefill } from './prefill/cached-text-prefill.ts';
import { textPrefill } from './prefill/text-prefill.ts';
import type { SystemParts } from './answer-turn.ts';

export interface RAGSystemParts extends SystemParts {
  /**
   * Reuses the longest common prefix of an earlier prompt: from checkpoints in the store that this opens, or, if the engine
   * has no checkpoints, through its prefix cache. Default: no reuse.
   */
  readonly prefixCache?: OpenStore;
  /** Which memories the system retrieves if the request brings none. Default `retrieved`. */
  readonly retrieves?: ArmTraits['retrieves'];
  /** Stored in the conversation log. Default `rag`. */
  readonly injectionMode?: string;
}

/**
 * Retrieval-augmented generation: retrieved memories as text in the prompt, in at most half of the remaining window, then as
 * much of the newest history as fits.
 *
 * @example
 * import { openSystem } from 'dki-bench';
 * await using system = await openSystem({ arm: 'rag' });
 * const { text } = await system.chat({ query: 'Where do I live?', sessionId: 'session-1', userId: 'ada' });
 * console.log(text);
 */
export class RAGSystem extends SingleSessionSystem {
  constructor(parts: RAGSystemParts) {
    const { prefixCache, retrieves = 'retrieved', injectionMode = 'rag', rules, topK, threshold } = parts;
    super({
      ...parts,
      retrieves,
      openStrategy: async ({ engine }) =>
        prefixCache === undefined ? textPrefill : openCachedPrefill(engine, prefixCache),
      storesKv: prefixCache !== undefined,
      injectionMode,
      action: 'rag_generate',
      config: { ...rules, topK, threshold },
    });
  }
}

async function openCachedPrefill(engine: Engine, openStore: OpenStore): Promise<PrefillStrategy> {
  const { checkpoints, prefixCache } = engine.capabilities;
  return !checkpoints && prefixCache?.span === 'engine'
    ? new EngineCachePrefill(prefixCache.blockTokens)
    : new CachedTextPrefill((await openStore(engine)).store, engine.capabilities);
}
