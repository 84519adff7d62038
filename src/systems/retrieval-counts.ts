import type { MemorySearchResult } from '../retrieval/retriever.ts';

interface Count {
  times: number;
  /** Place among the user's memories by when they were first retrieved, then by rank. */
  readonly first: number;
}

/**
 * How often each memory of each user was retrieved, for the placement `stable`: memories that are retrieved often come
 * first, so that prompts of one user share long prefixes.
 */
export class RetrievalCounts {
  readonly #users = new Map<string, Map<string, Count>>();
  #firsts = 0;

  /**
   * Counts one retrieval. @param memories best first
   * @returns their ids by how often they were retrieved before, most often first; then by when first; then by rank
   */
  count(userId: string, memories: readonly Pick<MemorySearchResult, 'memoryId'>[]): string[] {
    const counts = this.#users.get(userId) ?? new Map<string, Count>();
    this.#users.set(userId, counts);
    const ids = [...new Set(memories.map(({ memoryId }) => memoryId))];
    for (const id of ids) if (!counts.has(id)) counts.set(id, { times: 0, first: this.#firsts++ });
    const ordered = ids
      .map((id) => ({ id, ...counts.get(id)! }))
      .sort((a, b) => b.times - a.times || a.first - b.first)
      .map(({ id }) => id);
    for (const id of ids) counts.get(id)!.times++;
    return ordered;
  }

  forget(userId: string, memoryId: string): void {
    this.#users.get(userId)?.delete(memoryId);
  }

  clear(): void {
    this.#users.clear();
  }
}
