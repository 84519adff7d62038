import type { MemorySearchResult } from '../retrieval/retriever.ts';
import type { ArmTraits } from '../store/records/arm-traits.ts';
import { type ChatRequest, nothingRetrieved, type RetrievedMemories } from './memory-system.ts';
import { chronological } from './prompt/memory-lines.ts';

/** All memories, the newest first, so that a budget drops the oldest. */
export function newestFirst(all: () => readonly MemorySearchResult[]): RetrievedMemories {
  const start = performance.now();
  const memories = chronological(all()).reverse();
  return { memories, elapsedMs: performance.now() - start, record: null };
}

export interface MemorySources {
  readonly retrieved: RetrievedMemories;
  readonly all: readonly MemorySearchResult[];
  /** Those of `all` that are the user's preferences. */
  readonly preferences: readonly MemorySearchResult[];
  readonly evidence: readonly MemorySearchResult[];
  /** Another user's memories in place of those retrieved. */
  readonly donated: readonly MemorySearchResult[];
}

/** The memories that an arm is given by its traits, as its request carries them. */
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
