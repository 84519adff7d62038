import { BenchError } from '../base/bench-error.ts';
import type { HistoryMessage } from '../store/records/prompt-info.ts';
import type { RetrievalRecord } from '../store/records/turn-record.ts';

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
  readonly history?: readonly HistoryMessage[] | undefined;
  /** Ids of the memories that a retrieval outside the bench found, best first; only strategy `given` reads them. */
  readonly passages?: readonly string[] | undefined;
}

/**
 * Limits of a search. Defaults: `topK` and `threshold` of the system or router; without `userId`, memories that belong to no user.
 * `topK` 0 returns nothing; scores may be negative: a threshold of −1 accepts all.
 */
export type SearchOptions = Partial<Pick<RetrieveOptions, 'userId' | 'topK' | 'threshold'>>;

/** Result of a retrieval. */
export interface Retrieval extends RetrievalRecord {
  /** Best first, each memory once. */
  readonly memories: readonly MemorySearchResult[];
  /** Only for a strategy that writes a summary. */
  readonly summary?: RetrievalSummary;
}

/** Something unusual about a retrieval. */
export type RetrievalFlag = RetrievalRecord['flags'][number];

/** A summary of the retrieved memories, which a prompt can show instead of them. */
export interface RetrievalSummary {
  /** As `formatHistorySummary` writes it; empty if nothing was found. */
  readonly text: string;
  /** The records in the text, in order; a long memory can appear as several chunks. */
  readonly records: readonly MemorySearchResult[];
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
