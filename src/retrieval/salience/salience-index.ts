import { MemoryVectorIndex } from '../memory-vector-index.ts';
import type { VectorBackend } from '../vectors/vector-backends.ts';
import { FullTextIndex } from './full-text-index.ts';
import {
  asksForTimeline,
  fastPathFiles,
  type MemoryScope,
  recentJournal,
  type SalienceEntry,
} from './salience-entry.ts';

/** How a query is answered: `fast` reads a file, `timeline` the journal, `hybrid` searches. */
export type SaliencePath = 'fast' | 'timeline' | 'hybrid';

const SCOPES = ['global', 'project'] as const;

/**
 * The memories of one user, indexed by meaning, words, file and day, with access counts. Memories of one scope with the same
 * statement are mentions of one entry, which has the id of the first.
 */
export class SalienceIndex implements Disposable {
  readonly #vectors: Readonly<Record<MemoryScope, MemoryVectorIndex<SalienceEntry>>>;
  readonly #text = new FullTextIndex();
  /** Statement (`statementKey`) of each memory, by id. */
  readonly #statements = new Map<string, string>();
  /** Memories by statement, in the order in which they were added. */
  readonly #mentions = new Map<string, readonly SalienceEntry[]>();
  /** Row in the full-text index, by statement. */
  readonly #rows = new Map<string, number>();
  /** Entries by row, in the order in which they were added or last mentioned. */
  readonly #entries = new Map<number, SalienceEntry>();
  /** How often each entry was returned, by id. */
  readonly #accesses = new Map<string, number>();
  #nextRow = 0;

  constructor(backend: VectorBackend, dimension: number) {
    const open = (): MemoryVectorIndex<SalienceEntry> => new MemoryVectorIndex(backend, dimension);
    this.#vectors = { global: open(), project: open() };
  }

  /** Number of memories; every mention of an entry counts. */
  get size(): number {
    return this.#statements.size;
  }

  get entries(): number {
    return this.#entries.size;
  }

  /** Adds memories; one with a known id replaces the old one. */
  add(memories: readonly SalienceEntry[]): void {
    // Of memories with the same id the last one counts, as if they were added one by one.
    const distinct = [...new Map(memories.map((entry) => [entry.memoryId, entry])).values()];
    const changed = new Set(distinct.flatMap(({ memoryId }) => this.#removeMention(memoryId) ?? []));
    for (const entry of distinct) {
      const statement = statementKey(entry);
      this.#statements.set(entry.memoryId, statement);
      this.#mentions.set(statement, [...(this.#mentions.get(statement) ?? []), entry]);
      changed.add(statement);
    }
    this.#reindex([...changed]);
  }

  remove(memoryId: string): boolean {
    const statement = this.#removeMention(memoryId);
    if (statement !== undefined) this.#reindex([statement]);
    return statement !== undefined;
  }

  /** Lists the entries of a file or of a journal day, in order of insertion; empty if there is no such file. */
  file(uri: string, scope?: MemoryScope): SalienceEntry[] {
    return [...this.#entries.values()].filter(
      (entry) => (entry.uri === uri || entry.journal === uri) && (scope === undefined || entry.scope === scope),
    );
  }

  /** Reads the file that a query points to, or the recent journal; undefined if the query needs a search. */
  read(query: string, nowMs: number, scope: MemoryScope | undefined) {
    const exists = (uri: string): boolean => this.file(uri, scope).length > 0;
    const named = fastPathFiles(query, scope).find(exists);
    if (named !== undefined) return { path: 'fast' as const, files: [named], entries: this.file(named, scope) };
    const files = asksForTimeline(query) ? recentJournal(nowMs).filter(exists) : [];
    // An entry filed on one day and updated on another is in the journals of both; return it once.
    const entries = [...new Set(files.flatMap((uri) => this.file(uri, scope)))];
    return files.length === 0 ? undefined : { path: 'timeline' as const, files, entries };
  }

  /** Returns the `k` memories nearest to a unit vector, best first. */
  nearest(vector: Float32Array, k: number, scope?: MemoryScope): SalienceEntry[] {
    const found = (scope === undefined ? SCOPES : [scope]).flatMap((each) => this.#vectors[each].search(vector, k));
    const best = found.sort((a, b) => b.score - a.score);
    return best.slice(0, k).map(({ memory }) => memory);
  }

  /** Returns the `k` best memories of a full-text search, best first. */
  matching(query: string, k: number, scope?: MemoryScope): SalienceEntry[] {
    return this.#text.search(query, k, scope).map((row) => this.#entries.get(row)!);
  }

  accessCount({ memoryId }: SalienceEntry): number {
    return this.#accesses.get(memoryId) ?? 0;
  }

  countAccess(entries: readonly SalienceEntry[]): void {
    for (const entry of entries) this.#accesses.set(entry.memoryId, this.accessCount(entry) + 1);
  }

  forgetAccesses(): void {
    this.#accesses.clear();
  }

  [Symbol.dispose](): void {
    this.#text[Symbol.dispose]();
  }

  /** Removes a memory from the mentions of its statement. @returns the statement; undefined if there is no such memory */
  #removeMention(memoryId: string): string | undefined {
    const statement = this.#statements.get(memoryId);
    if (statement === undefined) return undefined;
    this.#statements.delete(memoryId);
    const rest = this.#mentions.get(statement)!.filter((mention) => mention.memoryId !== memoryId);
    if (rest.length === 0) this.#mentions.delete(statement);
    else this.#mentions.set(statement, rest);
    return statement;
  }

  /** Rebuilds the entries of statements in all indexes. An entry loses its access count if its first mention changes. */
  #reindex(statements: readonly string[]): void {
    for (const statement of statements) {
      const row = this.#rows.get(statement);
      if (row === undefined) continue;
      const { memoryId, scope } = this.#entries.get(row)!;
      this.#rows.delete(statement);
      this.#entries.delete(row);
      this.#text.remove(row);
      this.#vectors[scope].remove(memoryId);
      const mentions = this.#mentions.get(statement);
      if (mentions === undefined || merge(mentions).memoryId !== memoryId) this.#accesses.delete(memoryId);
    }
    const added = statements.flatMap((statement) => {
      const mentions = this.#mentions.get(statement);
      if (mentions === undefined) return [];
      const entry = merge(mentions);
      const row = this.#nextRow++;
      this.#rows.set(statement, row);
      this.#entries.set(row, entry);
      this.#vectors[entry.scope].add([entry]);
      return [{ row, text: entry.content, scope: entry.scope }];
    });
    this.#text.add(added);
  }
}

/** Scope and text, in lower case and without final full stops or exclamation marks; other punctuation counts. */
function statementKey({ scope, content }: SalienceEntry): string {
  const words = content.normalize('NFKC').toLowerCase().replaceAll(/\s+/gu, ' ').trim();
  return `${scope} ${words.replace(/(?<=.)[.!。…]+$/u, '')}`;
}

/** The earliest mention, with the reinforcement of all, the time of the latest, and the file of the first that names one. */
function merge(mentions: readonly SalienceEntry[]): SalienceEntry {
  const inOrder = [...mentions].sort((a, b) => a.updatedAtMs - b.updatedAtMs);
  const [first, last] = [inOrder[0]!, inOrder.at(-1)!];
  const { uri, section, memoryType } = inOrder.find((mention) => mention.uri !== mention.journal) ?? last;
  const { journal, updatedAtMs } = last;
  const reinforcement = mentions.reduce((sum, mention) => sum + mention.reinforcement, 0);
  return { ...first, uri, section, memoryType, journal, updatedAtMs, reinforcement };
}
