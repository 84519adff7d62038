import { BenchError } from '../config/bench-error.ts';
import type { ArmTraits } from '../records/arm-traits.ts';
import type { MemorySearchResult } from '../retrieval/memory-search-result.ts';
import { type ChatRequest, nothingRetrieved, type RetrievedMemories } from './contracts.ts';
import type { MemoryKeeper } from './memory-keeper.ts';
import { chronological, isPreference } from './prompt/placement.ts';

/** Settings of a system's own retrieval. */
export interface RetrievalSettings {
  readonly memories: MemoryKeeper;
  readonly retrieves: ArmTraits['retrieves'];
  readonly topK: number;
  readonly threshold: number;
}

/**
 * The memories of a turn: those that the request brings, else those that the system retrieves for itself.
 * @throws BenchError `bad-option` where only a data set knows them: the evidence, another user's memories
 */
export async function retrieveFor(
  request: ChatRequest,
  { memories, retrieves, topK, threshold }: RetrievalSettings,
  history: NonNullable<ChatRequest['history']>,
): Promise<RetrievedMemories> {
  if (request.retrieved !== undefined) return request.retrieved;
  const { query, userId } = request;
  switch (retrieves) {
    case 'nothing':
      return nothingRetrieved;
    case 'retrieved': {
      const user = userId === undefined ? {} : { userId };
      return memories.retrieve(query, { topK: request.topK ?? topK, threshold, ...user, history });
    }
    case 'all':
      return newestFirst(() => memories.all(userId ?? ''));
    default:
      throw new BenchError(
        'bad-option',
        `an arm that is given ${retrieves === 'evidence' ? 'the evidence' : "another user's memories"} cannot retrieve them itself`,
        'give them with the request, or choose another arm, such as rag',
      );
  }
}

/** All memories, the newest first, so that a budget drops the oldest. */
export function newestFirst(all: () => readonly MemorySearchResult[]): RetrievedMemories {
  const start = performance.now();
  const memories = chronological(all()).reverse();
  return { memories, elapsedMs: performance.now() - start, record: null };
}

/** All preferences of the user, whether they were retrieved or not, and what else was retrieved. */
export function withPreferences(
  { memories, elapsedMs, record }: RetrievedMemories,
  preferences: () => readonly MemorySearchResult[],
): RetrievedMemories {
  const start = performance.now();
  const all = [...preferences(), ...memories.filter((memory) => !isPreference(memory))];
  return { memories: all, elapsedMs: elapsedMs + performance.now() - start, record };
}
