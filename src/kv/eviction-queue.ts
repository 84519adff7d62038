import TinyQueue from 'tinyqueue';

/** What decides which entry of a full store is evicted next. */
export interface Evictable {
  /** Tokens that would have to be evaluated again. */
  readonly tokens: number;
  /** Number of the last use; set by `EvictionQueue.use`. */
  usedAt: number;
}

export const evictionPolicies = ['cost-recency', 'lru'] as const;
/** `cost-recency`: least tokens per use of the store since the entry's own last use. `lru`: longest unused. */
export type EvictionPolicy = (typeof evictionPolicies)[number];

interface Queued<Entry> {
  readonly entry: Entry;
  /** The entry's `usedAt` when it was queued; it may have been used since. */
  readonly usedAt: number;
}

/** Entries that may be evicted. Time per eviction grows with the number of different token counts, not of entries. */
export class EvictionQueue<Entry extends Evictable> {
  readonly #policy: EvictionPolicy;
  readonly #members = new Set<Entry>();
  /** The entries by their number of tokens (all together with `lru`), least recently used first. */
  readonly #queues = new Map<number, TinyQueue<Queued<Entry>>>();
  #clock = 0;

  constructor(policy: EvictionPolicy = 'cost-recency') {
    this.#policy = policy;
  }

  /** Notes a use of an entry, whether or not it is in the queue. */
  use(entry: Entry): void {
    entry.usedAt = ++this.#clock;
  }

  /** Adds an entry, last used at its `usedAt`. */
  add(entry: Entry): void {
    this.#members.add(entry);
    const group = this.#policy === 'lru' ? 0 : entry.tokens;
    const queue = this.#queues.get(group) ?? new TinyQueue<Queued<Entry>>([], (a, b) => a.usedAt - b.usedAt);
    this.#queues.set(group, queue);
    queue.push({ entry, usedAt: entry.usedAt });
  }

  delete(entry: Entry): void {
    this.#members.delete(entry);
    // Otherwise the queues keep deleted entries until the next eviction.
    if (this.#members.size === 0) this.#queues.clear();
  }

  /** The entry to evict next. @param spared an entry that is not evicted */
  next(spared?: Entry): Entry | undefined {
    let least: Entry | undefined;
    for (const [group, queue] of this.#queues) {
      const oldest = this.#oldest(queue, spared);
      if (queue.length === 0) this.#queues.delete(group);
      if (oldest !== undefined && (least === undefined || this.#worth(oldest) < this.#worth(least))) least = oldest;
    }
    return least;
  }

  #oldest(queue: TinyQueue<Queued<Entry>>, spared: Entry | undefined): Entry | undefined {
    let passed: Queued<Entry> | undefined;
    let top = queue.peek();
    for (; top !== undefined; top = queue.peek()) {
      const { entry, usedAt } = top;
      if (this.#members.has(entry) && entry.usedAt === usedAt && entry !== spared) break;
      queue.pop();
      if (!this.#members.has(entry)) continue;
      if (entry === spared) passed = top;
      else queue.push({ entry, usedAt: entry.usedAt });
    }
    if (passed !== undefined) queue.push({ entry: passed.entry, usedAt: passed.entry.usedAt });
    return top?.entry;
  }

  #worth({ tokens, usedAt }: Entry): number {
    return this.#policy === 'lru' ? usedAt : tokens / (this.#clock - usedAt + 1);
  }
}

export interface SizedEntry extends Evictable {
  readonly id: string;
  readonly sizeBytes: number;
}

/** Entries by id, with one bound in bytes for all. They may exceed it until the caller evicts. */
export class BoundedEntries<Entry extends SizedEntry> {
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Entry>();
  readonly #evictable: EvictionQueue<Entry>;
  #sizeBytes = 0;
  #evicted = 0;

  constructor(maxBytes: number, policy?: EvictionPolicy) {
    this.#maxBytes = maxBytes;
    this.#evictable = new EvictionQueue(policy);
  }

  get(id: string): Entry | undefined {
    return this.#entries.get(id);
  }

  [Symbol.iterator](): MapIterator<Entry> {
    return this.#entries.values();
  }

  /** Notes a use of an entry. */
  use(entry: Entry): void {
    this.#evictable.use(entry);
  }

  /** Adds an entry, last used at its `usedAt`. No entry may have its id. */
  add(entry: Entry): void {
    this.#entries.set(entry.id, entry);
    this.#evictable.add(entry);
    this.#sizeBytes += entry.sizeBytes;
  }

  delete(id: string): Entry | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    this.#entries.delete(id);
    this.#evictable.delete(entry);
    this.#sizeBytes -= entry.sizeBytes;
    return entry;
  }

  /** The entry to evict next; undefined within the bound. @param spared an entry that is not evicted */
  nextToEvict(spared?: Entry): Entry | undefined {
    return this.#sizeBytes <= this.#maxBytes ? undefined : this.#evictable.next(spared);
  }

  /** Deletes an entry, and counts it as evicted. */
  evict({ id }: Entry): void {
    this.delete(id);
    this.#evicted++;
  }

  /** The number of evictions so far, and the current size. */
  stats(): Readonly<Record<'evicted' | 'entries' | 'sizeBytes' | 'maxBytes', number>> {
    const sizes = { entries: this.#entries.size, sizeBytes: this.#sizeBytes, maxBytes: this.#maxBytes };
    return { evicted: this.#evicted, ...sizes };
  }
}
