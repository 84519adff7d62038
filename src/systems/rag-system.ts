import type { Engine } from '../engine/engine.ts';
import { kvOperations } from '../kv/kv-operations.ts';
import type { ArmTraits } from '../store/records/arm-traits.ts';
import { SingleSessionSystem } from './single-session-system.ts';
import { type OpenStore, type PrefillStrategy, textPrefill } from './prefill/prefill-strategy.ts';
import { CachedTextPrefill, EngineCachePrefill } from './prefill/cached-text-prefill.ts';
import { type PrefixSharing, PrefixTreePrefill } from './prefill/prefix-tree-prefill.ts';
import type { SystemParts } from './answer-turn.ts';

export interface RAGSystemParts extends SystemParts {
  /**
   * Reuses the longest common prefix of an earlier prompt: from a tree in memory with the bound in bytes of the store that this
   * opens; with recurrent layers or a server, from checkpoints in that store; without checkpoints, through the engine's cache.
   * Default: no reuse.
   */
  readonly prefixCache?: OpenStore;
  /** What users may find of each other's prompts in the tree. Default `system`: the text before a user's own. */
  readonly prefixSharing?: PrefixSharing | undefined;
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
        prefixCache === undefined ? textPrefill : openCachedPrefill(engine, prefixCache, parts),
      storesKv: prefixCache !== undefined,
      injectionMode,
      action: 'rag_generate',
      config: { ...rules, topK, threshold },
    });
  }
}

async function openCachedPrefill(
  engine: Engine,
  openStore: OpenStore,
  { prefixSharing: sharing = 'system', kv = kvOperations }: RAGSystemParts,
): Promise<PrefillStrategy> {
  const { cells, checkpoints, prefixCache } = engine.capabilities;
  if (!checkpoints && prefixCache?.span === 'engine') return new EngineCachePrefill(prefixCache.blockTokens);
  const { store } = await openStore(engine);
  // Where cells pass through files of a server, its own checkpoints are faster.
  return cells !== null && prefixCache === null
    ? new PrefixTreePrefill({ engine, kv, store, sharing })
    : new CachedTextPrefill(store, engine.capabilities);
}
