import type { ArmTraits } from '../../store/records/arm-traits.ts';
import type { MemorySearchResult } from '../../retrieval/retriever.ts';
import { type ChatRequest, nothingRetrieved, type RetrievedMemories } from '../contracts.ts';
import { newestFirst } from '../retrieve.ts';

/** Everything about one question that an arm may be given. */
export interface MemorySources {
  /** From the retriever, once for all arms. */
  readonly retrieved: RetrievedMemories;
  /** All memories that the user has at that time. */
  readonly all: readonly MemorySearchResult[];
  /** Those of `all` that are the user's preferences. */
  readonly preferences: readonly MemorySearchResult[];
  /** The memories that answer it. */
  readonly evidence: readonly MemorySearchResult[];
  /** Another user's memories in place of those retrieved. */
  readonly donated: readonly MemorySearchResult[];
}

/** The memories that an arm is given by its traits, as its request carries them. */
export function givenMemories(
  { retrieves, injects }: Pick<ArmTraits, 'retrieves' | 'injects'>,
  sources: MemorySources,
): Pick<ChatRequest, 'retrieved' | 'preferences'> {
  const retrieved = retrievedBy(retrieves, sources);
  return injects === 'preferences' ? { retrieved, preferences: sources.preferences } : { retrieved };
}

function retrievedBy(
  retrieves: ArmTraits['retrieves'],
  { retrieved, all, evidence, donated }: MemorySources,
): RetrievedMemories {
  switch (retrieves) {
    case 'nothing':
      return nothingRetrieved;
    case 'retrieved':
      return retrieved;
    case 'evidence':
      return { memories: evidence, elapsedMs: 0, record: null };
    case 'all':
      return newestFirst(() => all);
    case 'donor':
      return { memories: donated, elapsedMs: retrieved.elapsedMs, record: null };
  }
}
