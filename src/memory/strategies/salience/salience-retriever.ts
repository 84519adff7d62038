import type { EmbeddingService } from '../../../embedding/embedding-service.ts';
import { embedMemories } from '../../embed-memories.ts';
import type { NewMemory } from '../../new-memory.ts';
import type { Retrieval, RetrievalTimings, RetrieveOptions, Retriever } from '../../retriever.ts';
import { checkSearch } from '../../search-options.ts';
import type { VectorBackend } from '../../vector-index.ts';
import type { MemoryScope } from './fast-path.ts';
import { rankBySalience, type ScoredEntry } from './rank-by-salience.ts';
import { readFiles, type SaliencePath } from './read-files.ts';
import { salienceEntry, type SalienceEntry } from './salience-entry.ts';
import { SalienceLibrary } from './salience-library.ts';
import { fileResult, toResult, type SearchResponse } from './search-response.ts';
import { withinBudget, type Budgeted } from './token-budget.ts';

const DEFAULT_MAX_TOKENS = 1_500;

export interface SalienceOptions {
  readonly backend: VectorBackend;
  /** Tokens of a memory's content. */
  readonly countTokens: (text: string) => number;
  /** Tokens that an answer may take where a search names no other number; 0 is a value. Default 1,500. */
  readonly maxTokens?: number | undefined;
}

export interface SalienceSearchOptions {
  readonly userId?: string | undefined;
  /** Half of the candidates of each search, and the most memories that a search returns. */
  readonly topK: number;
  /** The least salience of what a search returns; none where not given. */
  readonly threshold?: number | undefined;
  /** Both where not given. */
  readonly scope?: MemoryScope | undefined;
  readonly maxTokens?: number | undefined;
  readonly now?: Date | undefined;
}

interface Answer extends Budgeted<ScoredEntry> {
  readonly path: SaliencePath;
  /** The files that were read, where no search was made. */
  readonly files: readonly string[];
  readonly candidates: number;
  readonly timingsMs: RetrievalTimings;
}

/**
 * Recall by salience: a question that points to a file gets the file, one that asks for what was said of late gets the
 * journal of the last seven days, any other the memories that are nearest in meaning or in words, weighed by how often
 * they were said, how recent and how often returned before. All within a token budget.
 *
 * Files and journal are views of the memories' metadata. Their entries go on in file order with score 1, each counted
 * alone, as many as the budget allows: `topK` bounds what a search returns, not what a file holds.
 *
 * @see seed 002
 */
export class SalienceRetriever implements Retriever {
  readonly name = 'salience';
  readonly #embeddings: EmbeddingService;
  readonly #backend: VectorBackend;
  readonly #countTokens: (text: string) => number;
  readonly #maxTokens: number;
  /** By user; undefined for memories without one. */
  readonly #libraries = new Map<string | undefined, SalienceLibrary>();
  readonly #answers: Record<SaliencePath, number> = { fast: 0, timeline: 0, hybrid: 0 };

  constructor(embeddings: EmbeddingService, { backend, countTokens, maxTokens = DEFAULT_MAX_TOKENS }: SalienceOptions) {
    this.#embeddings = embeddings;
    this.#backend = backend;
    this.#countTokens = countTokens;
    this.#maxTokens = maxTokens;
  }

  /** As the port says. @throws BenchError `bad-data` for metadata that `salienceEntry` cannot read, too */
  async addMemories(memories: readonly NewMemory[]): Promise<number> {
    const owned = await embedMemories(this.#embeddings, memories);
    const dimension = await this.#embeddings.dimension();
    const byUser = new Map<string | undefined, SalienceEntry[]>();
    for (const { userId, memory } of owned) {
      const entry = salienceEntry(memory, this.#countTokens(memory.content), Date.now());
      const entries = byUser.get(userId);
      if (entries === undefined) byUser.set(userId, [entry]);
      else entries.push(entry);
    }
    for (const [userId, entries] of byUser) {
      const library = this.#libraries.get(userId) ?? new SalienceLibrary(this.#backend, dimension);
      library.add(entries);
      this.#libraries.set(userId, library);
    }
    return memories.length;
  }

  async removeMemory(memoryId: string, userId?: string): Promise<boolean> {
    const library = this.#libraries.get(userId);
    const removed = library?.remove(memoryId) ?? false;
    if (library?.size === 0) {
      library[Symbol.dispose]();
      this.#libraries.delete(userId);
    }
    return removed;
  }

  async retrieve(query: string, options: RetrieveOptions): Promise<Retrieval> {
    const { path, files, candidates, timingsMs, results, totalTokens } = await this.#answer(query, options);
    return {
      strategy: this.name,
      memories: results.map(({ entry: { memory }, score }) => ({
        memoryId: memory.memoryId,
        content: memory.content,
        score,
        metadata: memory.metadata,
      })),
      timingsMs,
      tokensUsed: totalTokens,
      tokenBudget: this.#maxTokens,
      flags: [],
      details: { path, files, candidates },
    };
  }

  /**
   * The answer as the source document has it: a file of the fast path is one result with its whole content, whatever
   * the budget, of which nothing may be left then.
   *
   * @throws BenchError as `retrieve`
   */
  async search(query: string, options: SalienceSearchOptions): Promise<SearchResponse> {
    const { path, files, results, totalTokens, budgetRemaining } = await this.#answer(query, options);
    if (path !== 'fast') {
      return { results: results.map(({ entry, score }) => toResult(entry, score)), totalTokens, budgetRemaining };
    }
    const uri = files[0]!;
    const file = fileResult(uri, this.#libraries.get(options.userId)!.file(uri, options.scope), this.#countTokens);
    const budget = options.maxTokens ?? this.#maxTokens;
    return { results: [file], totalTokens: file.tokenCount, budgetRemaining: Math.max(0, budget - file.tokenCount) };
  }

  async reset(): Promise<void> {
    for (const library of this.#libraries.values()) library.forgetAccesses();
  }

  stats(): Readonly<Record<string, unknown>> {
    const { name: backend, version: backendVersion } = this.#backend;
    const memories = [...this.#libraries.values()].reduce((sum, { size }) => sum + size, 0);
    const answers = { ...this.#answers };
    return {
      backend,
      backendVersion,
      memories,
      namespaces: this.#libraries.size,
      tokenBudget: this.#maxTokens,
      answers,
    };
  }

  async close(): Promise<void> {
    for (const library of this.#libraries.values()) library[Symbol.dispose]();
    this.#libraries.clear();
  }

  async #answer(query: string, options: SalienceSearchOptions): Promise<Answer> {
    const { userId, topK, threshold = -1, scope, maxTokens = this.#maxTokens, now = new Date() } = options;
    checkSearch(topK, threshold);
    const start = performance.now();
    const library = topK === 0 ? undefined : this.#libraries.get(userId);
    if (library === undefined) return this.#finished('hybrid', [], maxTokens, { start });
    const read = readFiles(library, query, now.getTime(), scope);
    if (read !== undefined) {
      const { path, files, entries } = read;
      return this.#finished(path, threshold > 1 ? [] : entries, maxTokens, { start, library, files });
    }
    const vector = await this.#embeddings.embed(query, 'query');
    const embedded = performance.now();
    // The last memory may have been removed while the query was embedded.
    if (this.#libraries.get(userId) !== library) return this.#finished('hybrid', [], maxTokens, { start, embedded });
    const lists = [library.nearest(vector, topK * 2, scope), library.matching(query, topK * 2, scope)];
    const searched = performance.now();
    const ranked = rankBySalience(lists, (entry) => library.accessCount(entry), now.getTime());
    const wanted = ranked.filter(({ score }) => score >= threshold).slice(0, topK);
    const candidates = ranked.length;
    return this.#finished('hybrid', wanted, maxTokens, { start, embedded, searched, library, candidates });
  }

  /** Cuts to the budget, and counts what is returned as returned. */
  #finished(
    path: SaliencePath,
    ranked: readonly ScoredEntry[],
    maxTokens: number,
    how: {
      readonly start: number;
      readonly embedded?: number;
      readonly searched?: number;
      readonly library?: SalienceLibrary;
      readonly files?: readonly string[];
      readonly candidates?: number;
    },
  ): Answer {
    const {
      start,
      embedded = start,
      searched = performance.now(),
      library,
      files = [],
      candidates = ranked.length,
    } = how;
    const budgeted = withinBudget(ranked, maxTokens);
    library?.countAccess(budgeted.results.map(({ entry }) => entry));
    this.#answers[path]++;
    const timingsMs = {
      embedding: embedded - start,
      search: searched - embedded,
      ranking: performance.now() - searched,
    };
    return { ...budgeted, path, files, candidates, timingsMs };
  }
}
