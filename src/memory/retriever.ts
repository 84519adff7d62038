import type { MemorySearchResult } from './memory-search-result.ts';
import type { NewMemory } from './new-memory.ts';

/**
 * What to recall: a query in, ranked memories of one user out. Every strategy implements it, and every system takes
 * any of them. A search for one user never sees, and never filters away, the memories of another.
 */
export interface Retriever {
  /** As `--retriever` names it; recorded with every run. */
  readonly name: string;
  /**
   * Adds memories and returns how many; an id that its user has already is replaced. A call that failed can be made
   * again: nothing is kept twice.
   * @throws BenchError `bad-data` for a vector of another dimension, `database` where a store cannot be written
   */
  addMemories(memories: readonly NewMemory[]): Promise<number>;
  /** Removes a memory of a user from everything that could return it; false where there was none. */
  removeMemory(memoryId: string, userId?: string): Promise<boolean>;
  /**
   * The memories of a user that the strategy would hand over, ranked. Where a part of it fails and the strategy can do
   * without, the retrieval is flagged; it throws where it cannot.
   * @throws BenchError `bad-option` where `topK` is no whole number from 0, or `threshold` no number
   */
  retrieve(query: string, options: RetrieveOptions): Promise<Retrieval>;
  /**
   * Forgets what being asked has left behind, such as access counts and cached queries, so that what is asked next owes
   * nothing to what was asked before. The memories stay.
   */
  reset(): Promise<void>;
  /** What a table or a reader may want to know of it: sizes, hits, what was refused, versions. */
  stats(): Readonly<Record<string, unknown>>;
  /** Gives back what it holds open. */
  close(): Promise<void>;
}

/** What a retrieval is asked for. */
export interface RetrieveOptions {
  readonly userId?: string | undefined;
  /** How many memories a search gives at most; 0 is a value. A strategy that adds some by another rule says so. */
  readonly topK: number;
  /** Memories that score lower are not returned; −1 lets everything through. */
  readonly threshold: number;
  /** The time at which it is asked: the item's `askedAt` in a run, else the clock's. */
  readonly now?: Date | undefined;
  /** The conversation so far, the oldest message first. */
  readonly history?: readonly RetrievalMessage[] | undefined;
}

export interface RetrievalMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** What a retrieval came to. */
export interface Retrieval {
  /** The strategy that answered: its `name`. */
  readonly strategy: string;
  /** Best first, each memory once. */
  readonly memories: readonly MemorySearchResult[];
  readonly timingsMs: RetrievalTimings;
  /** Where the strategy has a budget: what its memories take of it, and the whole of it. */
  readonly tokensUsed?: number;
  readonly tokenBudget?: number;
  readonly flags: readonly RetrievalFlag[];
  /** What the strategy did, for a reader: hints, tiers, paths taken. Stored with the turn, so no texts of memories. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Milliseconds: making vectors, asking stores and indexes, and putting their answers in order. */
export interface RetrievalTimings {
  readonly embedding: number;
  readonly search: number;
  readonly ranking: number;
}

/** What a reader must know of a retrieval that did not go the ordinary way. */
export interface RetrievalFlag {
  /**
   * `failed`: nothing could be recalled, the turn went on without; `degraded`: a part was missing; `fallback`: another
   * way than the chosen one was taken; `cached`: an earlier answer was given again.
   */
  readonly flag: 'failed' | 'degraded' | 'fallback' | 'cached';
  /** One line. */
  readonly reason: string;
}
