import { BenchError } from '../base/bench-error.ts';

/**
 * Port of a retrieval strategy: a query in, ranked memories of one user out. Any system works with any strategy. A search for
 * one user never touches the memories of another.
 *
 * @example
 * ```ts
 * import type { Retrieval, RetrieveOptions, Retriever } from 'dki-bench';
 *
 * async function bestMemory(retriever: Retriever, query: string, userId: string): Promise<string | undefined> {
 *   const options: RetrieveOptions = { userId, topK: 1, threshold: 0.3 };
 *   const { memories, flags }: Retrieval = await retriever.retrieve(query, options);
 *   return flags.some(({ flag }) => flag === 'failed') ? undefined : memories[0]?.content;
 * }
 * ```
 */
export interface Retriever {
  /** The name for `--retriever`; recorded with every run. */
  readonly name: string;
  /**
   * Adds memories and returns their number; a memory with an id that its user already has is replaced. A failed call can be
   * repeated: nothing is stored twice.
   * @throws BenchError `bad-data` for a vector of another dimension, `database` if a store cannot be written
   */
  addMemories(memories: readonly NewMemory[]): Promise<number>;
  /** Removes a memory of a user from all stores and caches; false if there was none. */
  removeMemory(memoryId: string, userId?: string): Promise<boolean>;
  /**
   * Retrieves memories of a user, best first; none for a query of white space alone. The failure of an optional part is a
   * flag of the result.
   * @throws BenchError `bad-option` if `topK` is not a whole number from 0, or `threshold` is NaN
   */
  retrieve(query: string, options: RetrieveOptions): Promise<Retrieval>;
  /** Clears what earlier queries left, such as access counts and cached results. The memories stay. */
  reset(): Promise<void>;
  /** Figures for tables and readers: sizes, cache hits, refused memories, versions. */
  stats(): Readonly<Record<string, unknown>>;
  /** Closes stores and files. */
  close(): Promise<void>;
}

/** Options of one retrieval. */
export interface RetrieveOptions {
  readonly userId?: string | undefined;
  /** Maximum number of memories, 0 or more. A strategy that adds others by another rule says so in its documentation. */
  readonly topK: number;
  /** Memories with a lower score are not returned; −1 accepts all. */
  readonly threshold: number;
  /** Time of the query: in a run, the item's `askedAt`. Default: now. */
  readonly now?: Date | undefined;
  /** The conversation so far, the oldest message first. */
  readonly history?: readonly RetrievalMessage[] | undefined;
  /** Ids of the memories that a retrieval outside the bench found, best first; only strategy `given` reads them. */
  readonly passages?: readonly string[] | undefined;
}

/** One message of the conversation before a query. */
export interface RetrievalMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** Result of a retrieval. */
export interface Retrieval {
  /** The `name` of the strategy. */
  readonly strategy: string;
  /** Best first, each memory once. */
  readonly memories: readonly MemorySearchResult[];
  readonly timingsMs: RetrievalTimings;
  /** Tokens of the memories, and the token budget, for a strategy with a budget. */
  readonly tokensUsed?: number;
  readonly tokenBudget?: number;
  readonly flags: readonly RetrievalFlag[];
  /** Only for a strategy that writes a summary. */
  readonly summary?: RetrievalSummary;
  /** Trace of the strategy for readers: hints, tiers, paths. Stored with the turn, so without texts of memories. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** A summary of the retrieved memories, which a prompt can show instead of them. */
export interface RetrievalSummary {
  /** As `formatHistorySummary` writes it; empty if nothing was found. */
  readonly text: string;
  /** The records in the text, in order; a long memory can appear as several chunks. */
  readonly records: readonly MemorySearchResult[];
}

/** Milliseconds for embedding, for searching stores and indexes, and for ranking their results. */
export interface RetrievalTimings {
  readonly embedding: number;
  readonly search: number;
  readonly ranking: number;
}

/** Something unusual about a retrieval. */
export interface RetrievalFlag {
  /**
   * `failed`: no memory could be retrieved, the turn went on without any; `degraded`: a part was missing; `fallback`: a
   * method other than the configured one was used; `cached`: an earlier result was reused.
   */
  readonly flag: 'failed' | 'degraded' | 'fallback' | 'cached';
  /** One line. */
  readonly reason: string;
}

/** A retrieved memory. */
export interface MemorySearchResult {
  readonly memoryId: string;
  readonly content: string;
  /** Relevance by the strategy's own measure; for `router` the cosine, from −1 to 1. */
  readonly score: number;
  /** The metadata of the added memory: `createdAt`, `preference`, `value` and so on, and its `userId`. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** File and section of the memory, such as `user/preferences.md#Editor`, if the strategy has files. */
  readonly path?: string;
}

/** A memory to add; its id is unique for its user. */
export interface NewMemory {
  readonly memoryId: string;
  readonly content: string;
  /** Vector of the embedding service's dimension; need not be normalised. Default: the embedding of the content. */
  readonly embedding?: Float32Array | undefined;
  /** Such as `createdAt` (ISO 8601), `preference`, `value`, and fields that a strategy reads. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Memories without a user have a namespace of their own. */
  readonly userId?: string | undefined;
}

/** Checks the options of a search. @throws BenchError `bad-option` if `topK` is not a whole number from 0, or `threshold` is NaN */
export function checkSearch(topK: number, threshold: number): void {
  if (!Number.isInteger(topK) || topK < 0) {
    throw new BenchError('bad-option', `topK is ${topK}`, 'give a whole number from 0');
  }
  if (Number.isNaN(threshold)) {
    throw new BenchError('bad-option', 'the similarity threshold is not a number', 'give one from -1 to 1');
  }
}

/** True for a query of white space alone. */
export function isEmptyQuery(query: string): boolean {
  return query.trim() === '';
}

/** Returns an empty result, for an empty query. @throws BenchError `bad-option` for options that `checkSearch` refuses */
export function retrieveNothing(strategy: string, { topK, threshold }: RetrieveOptions): Retrieval {
  checkSearch(topK, threshold);
  return { strategy, memories: [], timingsMs: { embedding: 0, search: 0, ranking: 0 }, flags: [], details: {} };
}
