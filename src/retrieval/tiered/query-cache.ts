/** Counts of a cache. */
export interface QueryCacheStats {
  readonly entries: number;
  readonly hits: number;
  readonly misses: number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly expiresAtMs: number;
}

/** Cache of query results: least recently used entries are dropped, and all expire, since other processes write too. */
export class QueryCache<Value> {
  readonly #maxEntries: number;
  readonly #lifetimeMs: number;
  readonly #entries = new Map<string, Entry<Value>>();
  #hits = 0;
  #misses = 0;

  constructor(maxEntries: number, lifetimeMs: number) {
    this.#maxEntries = maxEntries;
    this.#lifetimeMs = lifetimeMs;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    if (entry === undefined || entry.expiresAtMs <= performance.now()) {
      this.#misses++;
      return undefined;
    }
    this.#hits++;
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, expiresAtMs: performance.now() + this.#lifetimeMs });
    if (this.#entries.size > this.#maxEntries) this.#entries.delete(this.#entries.keys().next().value!);
  }

  /** Removes all entries and resets the counts. */
  clear(): void {
    this.#entries.clear();
    this.#hits = 0;
    this.#misses = 0;
  }

  stats(): QueryCacheStats {
    return { entries: this.#entries.size, hits: this.#hits, misses: this.#misses };
  }
}
