import { MemoryNamespace } from '../memory-namespace.ts';
import type { VectorBackend } from '../vectors/vector-index.ts';
import type { MemoryScope } from './fast-path.ts';
import { FullTextIndex } from './full-text-index.ts';
import type { SalienceEntry } from './salience-entry.ts';

/** The memories of one user, indexed by meaning, words, file and day, with their access counts. */
export class SalienceLibrary implements Disposable {
  readonly #vectors: Readonly<Record<MemoryScope, MemoryNamespace>>;
  readonly #text = new FullTextIndex();
  readonly #rows = new Map<number, SalienceEntry>();
  readonly #rowOf = new Map<string, number>();
  /** Entries of a file and of a day of the journal, in the order in which they were added. */
  readonly #files = new Map<string, Set<SalienceEntry>>();
  readonly #accesses = new Map<string, number>();
  #nextRow = 0;

  constructor(backend: VectorBackend, dimension: number) {
    this.#vectors = {
      global: new MemoryNamespace(backend, dimension),
      project: new MemoryNamespace(backend, dimension),
    };
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Adds memories; one with a known id replaces the old one. */
  add(entries: readonly SalienceEntry[]): void {
    // The last of several with one id, as if they were added in sequence.
    const distinct = [...new Map(entries.map((entry) => [entry.memory.memoryId, entry])).values()];
    for (const { memory } of distinct) this.remove(memory.memoryId);
    const placed = distinct.map((entry) => ({ entry, row: this.#nextRow++ }));
    this.#text.add(placed.map(({ entry, row }) => ({ row, text: entry.memory.content, scope: entry.scope })));
    for (const scope of ['global', 'project'] as const) {
      const inScope = distinct.filter((entry) => entry.scope === scope);
      this.#vectors[scope].add(inScope.map(({ memory }) => memory));
    }
    for (const { entry, row } of placed) {
      this.#rows.set(row, entry);
      this.#rowOf.set(entry.memory.memoryId, row);
      for (const file of filesOf(entry)) this.#files.set(file, (this.#files.get(file) ?? new Set()).add(entry));
    }
  }

  /** Removes a memory; false if there is none. */
  remove(memoryId: string): boolean {
    const row = this.#rowOf.get(memoryId);
    if (row === undefined) return false;
    const entry = this.#rows.get(row)!;
    this.#text.remove(row);
    this.#vectors[entry.scope].remove(memoryId);
    this.#rows.delete(row);
    this.#rowOf.delete(memoryId);
    this.#accesses.delete(memoryId);
    for (const file of filesOf(entry)) {
      const entries = this.#files.get(file)!;
      entries.delete(entry);
      if (entries.size === 0) this.#files.delete(file);
    }
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

  [Symbol.dispose](): void {
    this.#text[Symbol.dispose]();
  }
}

function filesOf({ uri, journal }: SalienceEntry): string[] {
  return uri === journal ? [uri] : [uri, journal];
}
