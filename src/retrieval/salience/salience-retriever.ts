import type { EmbeddingService } from '../../models/embedding/embedding-service.ts';
import { embedMemories, UserIndexes } from '../memory-vector-index.ts';
import type { NewMemory, Retrieval, RetrieveOptions, Retriever } from '../retriever.ts';
import { checkSearch, isEmptyQuery, retrieveNothing } from '../retriever.ts';
import type { VectorBackend } from '../vectors/vector-backends.ts';
import { documentRule, rankBySalience, type SalienceRule } from './salience-ranking.ts';
import { type MemoryScope, salienceEntry, type SalienceEntry } from './salience-entry.ts';
import { SalienceIndex, type SaliencePath } from './salience-index.ts';

const DEFAULT_MAX_TOKENS = 1_500;

/** Options of the strategy. */
export interface SalienceOptions {
  readonly backend: VectorBackend;
  /** Tokens of each text, by the model that will read them. */
  readonly countTokens: (texts: readonly string[]) => Promise<readonly number[]>;
  /** Token budget of a search that sets none, 0 or more. Default 1,500. */
  readonly maxTokens?: number | undefined;
  /** Default: `documentRule`. */
  readonly rule?: SalienceRule | undefined;
}

interface SalienceSearchOptions extends Omit<RetrieveOptions, 'threshold'> {
  /** Minimum salience of a returned memory. Default: none. */
  readonly threshold?: number | undefined;
  /** Default: both scopes. */
  readonly scope?: MemoryScope | undefined;
  readonly maxTokens?: number | undefined;
}

/**
 * Strategy `salience`: for a question that points to a file it returns the file, for one about recent statements the journal
 * of the last seven days; for any other it searches by meaning and by words, weighted by reinforcement, recency and access
 * count. All results fit into a token budget. A memory with the words of an earlier one reinforces the earlier entry.
 *
 * Files and journal are views of the memories' metadata. Their entries are returned in file order with score 1, as many as
 * the budget allows: `topK` limits searches, not files.
 *
 * @example
 * ```ts
 * import { chooseVectorBackend, EmbeddingService, SalienceRetriever, TransformersEmbedder } from 'dki-bench';
 *
 * const embeddings = new EmbeddingService(() => TransformersEmbedder.open('models/embed-en-zh'));
 * const { backend } = chooseVectorBackend();
 * const countTokens = async (texts: readonly string[]) => texts.map((text) => text.split(' ').length);
 * const retriever = new SalienceRetriever(embeddings, { backend, countTokens, maxTokens: 500 });
 * await retriever.addMemories([{ memoryId: 'm1', content: 'I prefer tea.', metadata: { preference: true } }]);
 * const { memories } = await retriever.retrieve('What are my preferences?', { topK: 5, threshold: -1 });
 * ```
 */
export class SalienceRetriever implements Retriever {
  readonly name = 'salience';
  readonly #embeddings: EmbeddingService;
  readonly #options: SalienceOptions;
  readonly #maxTokens: number;
  readonly #rule: SalienceRule;
  readonly #indexes = new UserIndexes<SalienceEntry, SalienceIndex>();
  readonly #answers: Record<SaliencePath, number> = { fast: 0, timeline: 0, hybrid: 0 };

  constructor(embeddings: EmbeddingService, options: SalienceOptions) {
    this.#embeddings = embeddings;
    this.#options = options;
    this.#maxTokens = options.maxTokens ?? DEFAULT_MAX_TOKENS;
    this.#rule = options.rule ?? documentRule;
  }

  /** Adds memories as the port specifies. @throws BenchError also `bad-data` for metadata that cannot be read */
  async addMemories(memories: readonly NewMemory[]): Promise<number> {
    const { backend, countTokens } = this.#options;
    const stored = await embedMemories(this.#embeddings, memories);
    const dimension = await this.#embeddings.dimension();
    const tokenCounts = await countTokens(memories.map(({ content }) => content));
    const entries = stored.map((memory, index) => salienceEntry(memory, tokenCounts[index]!, Date.now()));
    this.#indexes.addAll(entries, () => new SalienceIndex(backend, dimension));
    return memories.length;
  }

  async removeMemory(memoryId: string, userId?: string): Promise<boolean> {
    const index = this.#indexes.get(userId);
    const removed = this.#indexes.remove(memoryId, userId);
    if (index?.size === 0) index[Symbol.dispose]();
    return removed;
  }

  async retrieve(query: string, options: RetrieveOptions): Promise<Retrieval> {
    if (isEmptyQuery(query)) return retrieveNothing(this.name, options);
    const { path, files, candidates, timingsMs, results, totalTokens } = await this.#answer(query, options);
    return {
      strategy: this.name,
      memories: results.map(({ memoryId, content, score, metadata, uri, section }) => {
        return { memoryId, content, score, metadata, path: section === '' ? uri : `${uri}#${section}` };
      }),
      timingsMs,
      tokensUsed: totalTokens,
      tokenBudget: this.#maxTokens,
      flags: [],
      details: { path, files, candidates },
    };
  }

  /**
   * Like `retrieve`, in the response format of the design document: a file is one result with its whole content, whatever the
   * budget.
   * @throws BenchError as `retrieve`
   */
  async search(query: string, options: SalienceSearchOptions): Promise<Budgeted<SearchResult>> {
    const { path, files, results, totalTokens, budgetRemaining } = await this.#answer(query, options);
    if (path !== 'fast') {
      const found = results.map(({ memoryId: chunkId, uri, content, score, ...entry }) => {
        const { memoryType, section, reinforcement, tokenCount } = entry;
        return { chunkId, uri, content, score, memoryType, section, reinforcement, tokenCount };
      });
      return { results: found, totalTokens, budgetRemaining };
    }
    const uri = files[0]!;
    const entries = this.#indexes.get(options.userId)!.file(uri, options.scope);
    const { memoryType } = entries[0]!;
    const content = entries.map((entry) => entry.content).join('\n');
    const reinforcement = Math.max(...entries.map((entry) => entry.reinforcement));
    const tokenCount = (await this.#options.countTokens([content]))[0]!;
    const file = { chunkId: uri, uri, content, score: 1, memoryType, section: '', reinforcement, tokenCount };
    const budget = options.maxTokens ?? this.#maxTokens;
    return { results: [file], totalTokens: tokenCount, budgetRemaining: Math.max(0, budget - tokenCount) };
  }

  async reset(): Promise<void> {
    for (const index of this.#indexes.values()) index.forgetAccesses();
  }

  stats(): Readonly<Record<string, unknown>> {
    const { backend } = this.#options;
    return {
      backend: backend.name,
      backendVersion: backend.version,
      memories: this.#indexes.memoryCount,
      entries: [...this.#indexes.values()].reduce((sum, { entries }) => sum + entries, 0),
      namespaces: this.#indexes.size,
      tokenBudget: this.#maxTokens,
      rule: this.#rule,
      answers: { ...this.#answers },
    };
  }

  async close(): Promise<void> {
    for (const index of this.#indexes.values()) index[Symbol.dispose]();
    this.#indexes.clear();
  }

  async #answer(query: string, options: SalienceSearchOptions) {
    const { userId, topK, threshold = -1, maxTokens = this.#maxTokens } = options;
    checkSearch(topK, threshold);
    const start = performance.now();
    const index = topK === 0 ? undefined : this.#indexes.get(userId);
    const found = await this.#find(index, query, { ...options, threshold });
    const { path, files, ranked, candidates, searched, embedded = start } = found;
    const budgeted = withinBudget(ranked, maxTokens);
    index?.countAccess(budgeted.results);
    this.#answers[path]++;
    const ranking = performance.now() - searched;
    const timingsMs = { embedding: embedded - start, search: searched - embedded, ranking };
    return { ...budgeted, path, files, candidates, timingsMs };
  }

  /** Reads files, or searches by meaning and by words. @returns also when these steps ended, by `performance.now()` */
  async #find(index: SalienceIndex | undefined, query: string, options: SalienceSearchOptions & RetrieveOptions) {
    const { userId, topK, threshold, scope, now = new Date() } = options;
    if (index === undefined) {
      return { path: 'hybrid' as const, files: [], ranked: [], candidates: 0, searched: performance.now() };
    }
    const read = index.read(query, now.getTime(), scope);
    if (read !== undefined) {
      const { path, files, entries } = read;
      const ranked = entries.map((entry) => ({ ...entry, score: 1 })).filter(({ score }) => score >= threshold);
      return { path, files, ranked, candidates: ranked.length, searched: performance.now() };
    }
    const vector = await this.#embeddings.embed(query, 'query');
    const embedded = performance.now();
    // The last memory may have been removed while the query was embedded.
    const isOpen = this.#indexes.get(userId) === index;
    const lists = isOpen ? [index.nearest(vector, topK * 2, scope), index.matching(query, topK * 2, scope)] : [];
    const searched = performance.now();
    const candidates = rankBySalience(lists, (entry) => index.accessCount(entry), now.getTime(), this.#rule);
    const ranked = candidates.filter(({ score }) => score >= threshold).slice(0, topK);
    return { path: 'hybrid' as const, files: [], ranked, candidates: candidates.length, embedded, searched };
  }
}

/** Items within a token budget, and the rest of the budget. */
export interface Budgeted<Item> {
  readonly results: readonly Item[];
  readonly totalTokens: number;
  readonly budgetRemaining: number;
}

/** Takes items in order up to the first that does not fit; later ones are left out even if they would fit. */
export function withinBudget<Item extends { readonly tokenCount: number }>(
  items: readonly Item[],
  budgetTokens: number,
): Budgeted<Item> {
  let totalTokens = 0;
  const results: Item[] = [];
  for (const item of items) {
    if (totalTokens + item.tokenCount > budgetTokens) break;
    results.push(item);
    totalTokens += item.tokenCount;
  }
  return { results, totalTokens, budgetRemaining: budgetTokens - totalTokens };
}

/** A memory or a whole file, with the field names of the design document. */
interface SearchResult extends Pick<SalienceEntry, 'uri' | 'content' | 'memoryType' | 'section' | 'reinforcement'> {
  readonly chunkId: string;
  /** Salience, 0 to 1; 1 for a file and its entries. */
  readonly score: number;
  readonly tokenCount: number;
}
