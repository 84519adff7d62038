/** How often a cache was asked, and how often it knew. */
export interface QueryCacheStats {
  readonly entries: number;
  readonly hits: number;
  readonly misses: number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly expiresAtMs: number;
}

/** What frequent queries found, the least recently asked dropped first, each for some time only: others write too. */
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

  /** Forgets everything, its counts too. */
  clear(): void {
    this.#entries.clear();
    this.#hits = 0;
    this.#misses = 0;
  }

  stats(): QueryCacheStats {
    return { entries: this.#entries.size, hits: this.#hits, misses: this.#misses };
  }
}
