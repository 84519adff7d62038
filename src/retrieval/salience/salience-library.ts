import { MemoryNamespace } from '../memory-namespace.ts';
import type { VectorBackend } from '../vectors/vector-index.ts';
import type { MemoryScope } from './file-paths.ts';
import { FullTextIndex } from './full-text-index.ts';
import { Mentions } from './mentions.ts';
import type { SalienceEntry } from './salience-entry.ts';

/**
 * The memories of one user, indexed by meaning, words, file and day, with their access counts. Memories that say the same are
 * one entry.
 */
export class SalienceLibrary implements Disposable {
  readonly #vectors: Readonly<Record<MemoryScope, MemoryNamespace>>;
  readonly #text = new FullTextIndex();
  readonly #mentions = new Mentions();
  /** By statement. */
  readonly #entries = new Map<string, SalienceEntry>();
  readonly #rows = new Map<number, SalienceEntry>();
  /** By the memory of an entry. */
  readonly #rowOf = new Map<string, number>();
  /** Entries of a file and of a day of the journal, in the order in which they were added or last said. */
  readonly #files = new Map<string, Set<SalienceEntry>>();
  readonly #accesses = new Map<string, number>();
  #nextRow = 0;

  constructor(backend: VectorBackend, dimension: number) {
    this.#vectors = {
      global: new MemoryNamespace(backend, dimension),
      project: new MemoryNamespace(backend, dimension),
    };
  }

  /** Number of memories. */
  get size(): number {
    return this.#mentions.size;
  }

  /** Number of entries: memories that say the same are one. */
  get entries(): number {
    return this.#entries.size;
  }

  /** Adds memories; one with a known id replaces the old one. */
  add(memories: readonly SalienceEntry[]): void {
    // The last of several with one id, as if they were added in sequence.
    const distinct = [...new Map(memories.map((entry) => [entry.memory.memoryId, entry])).values()];
    const left = distinct.flatMap(({ memory }) => this.#mentions.remove(memory.memoryId) ?? []);
    const said = distinct.map((entry) => this.#mentions.add(entry));
    this.#index(new Set([...left, ...said]));
  }

  /** Removes a memory; false if there is none. */
  remove(memoryId: string): boolean {
    const statement = this.#mentions.remove(memoryId);
    if (statement === undefined) return false;
    this.#index(new Set([statement]));
    return true;
  }

  /** Lists the entries of a file or of a journal day, in order of insertion; empty if there is no such file. */
  file(uri: string, scope?: MemoryScope): SalienceEntry[] {
    const entries = [...(this.#files.get(uri) ?? [])];
    return scope === undefined ? entries : entries.filter((entry) => entry.scope === scope);
  }

  /** Returns the `k` memories nearest to a unit vector, best first. */
  nearest(vector: Float32Array, k: number, scope?: MemoryScope): SalienceEntry[] {
    const searched = scope === undefined ? (['global', 'project'] as const) : [scope];
    return searched
      .flatMap((each) => (this.#vectors[each].size === 0 ? [] : this.#vectors[each].search(vector, k)))
      .sort((a, b) => b.score - a.score)
      .slice(0, k)
      .map(({ memory }) => this.#rows.get(this.#rowOf.get(memory.memoryId)!)!);
  }

  /** Returns the `k` memories that match most of the query's terms, best first. */
  matching(query: string, k: number, scope?: MemoryScope): SalienceEntry[] {
    return this.#text.search(query, k, scope).map((row) => this.#rows.get(row)!);
  }

  /** Number of times that a memory was returned. */
  accessCount({ memory }: SalienceEntry): number {
    return this.#accesses.get(memory.memoryId) ?? 0;
  }

  countAccess(entries: readonly SalienceEntry[]): void {
    for (const entry of entries) this.#accesses.set(entry.memory.memoryId, this.accessCount(entry) + 1);
  }

  forgetAccesses(): void {
    this.#accesses.clear();
  }

  /** Puts the entries of statements that have changed into all indexes. */
  #index(statements: ReadonlySet<string>): void {
    for (const statement of statements) this.#leave(statement);
    const placed = [...statements].flatMap((statement) => {
      const entry = this.#mentions.entry(statement);
      if (entry === undefined) return [];
      this.#entries.set(statement, entry);
      return [{ entry, row: this.#nextRow++ }];
    });
    this.#text.add(placed.map(({ entry, row }) => ({ row, text: entry.memory.content, scope: entry.scope })));
    for (const scope of ['global', 'project'] as const) {
      const inScope = placed.filter(({ entry }) => entry.scope === scope);
      this.#vectors[scope].add(inScope.map(({ entry }) => entry.memory));
    }
    for (const { entry, row } of placed) {
      this.#rows.set(row, entry);
      this.#rowOf.set(entry.memory.memoryId, row);
      for (const file of filesOf(entry)) this.#files.set(file, (this.#files.get(file) ?? new Set()).add(entry));
    }
  }

  /** Takes the entry of a statement out of all indexes; its accesses stay while it is said. */
  #leave(statement: string): void {
    const entry = this.#entries.get(statement);
    if (entry === undefined) return;
    const { memoryId } = entry.memory;
    const row = this.#rowOf.get(memoryId)!;
    this.#entries.delete(statement);
    this.#text.remove(row);
    this.#vectors[entry.scope].remove(memoryId);
    this.#rows.delete(row);
    this.#rowOf.delete(memoryId);
    if (this.#mentions.entry(statement)?.memory.memoryId !== memoryId) this.#accesses.delete(memoryId);
    for (const file of filesOf(entry)) {
      const entries = this.#files.get(file)!;
      entries.delete(entry);
      if (entries.size === 0) this.#files.delete(file);
    }
  }

  [Symbol.dispose](): void {
    this.#text[Symbol.dispose]();
  }
}

function filesOf({ uri, journal }: SalienceEntry): string[] {
  return uri === journal ? [uri] : [uri, journal];
}
