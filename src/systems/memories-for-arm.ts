import type { MemorySearchResult } from '../retrieval/retriever.ts';
import type { ArmTraits } from '../store/records/arm-traits.ts';
import { type ChatRequest, nothingRetrieved, type RetrievedMemories } from './memory-system.ts';
import { chronological } from './prompt/memory-lines.ts';

/** Retrieves all memories, newest first, so that a limited budget drops the oldest. */
export function newestFirst(all: () => readonly MemorySearchResult[]): RetrievedMemories {
  const start = performance.now();
  const memories = chronological(all()).reverse();
  return { memories, elapsedMs: performance.now() - start, record: null };
}

/** The memories of one turn from each source that an arm may use. */
export interface MemorySources {
  readonly retrieved: RetrievedMemories;
  readonly all: readonly MemorySearchResult[];
  /** The user's preferences among `all`. */
  readonly preferences: readonly MemorySearchResult[];
  readonly evidence: readonly MemorySearchResult[];
  /** Memories of another user, for the control arm that gets wrong memories. */
  readonly donated: readonly MemorySearchResult[];
}

/** Chooses the memories for an arm's request by the arm's traits. */
export function memoriesForArm(
  { retrieves, injects }: Pick<ArmTraits, 'retrieves' | 'injects'>,
  { retrieved, all, preferences, evidence, donated }: MemorySources,
): Pick<ChatRequest, 'retrieved' | 'preferences'> {
  const sources: Readonly<Record<ArmTraits['retrieves'], () => RetrievedMemories>> = {
    nothing: () => nothingRetrieved,
    retrieved: () => retrieved,
    evidence: () => ({ memories: evidence, elapsedMs: 0, record: null }),
    all: () => newestFirst(() => all),
    donor: () => ({ memories: donated, elapsedMs: retrieved.elapsedMs, record: null }),
  };
  const given = { retrieved: sources[retrieves]() };
  return injects === 'preferences' ? { ...given, preferences } : given;
}
