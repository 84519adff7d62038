import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync, chmodSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { BenchError } from '../config/bench-error.ts';

const recordSchema = z.object({
  key: z.string().regex(/^[0-9a-f]{64}$/),
  sha256: z.string(),
  sizeBytes: z.number().int().nonnegative(),
  tokens: z.number().int().positive(),
  memoryIds: z.array(z.string()),
});

type StateRecord = z.infer<typeof recordSchema>;

interface Entry extends StateRecord {
  readonly directory: string;
  /** Position in the order of use; the largest was used last. */
  usedAt: number;
}

/** A llama.cpp state file whose bytes were checked just now. */
export interface StoredState {
  readonly path: string;
  readonly sizeBytes: number;
  readonly tokens: number;
}

/** Counts since the store was opened. */
export interface StateStoreStats {
  readonly hits: number;
  readonly misses: number;
  /** Files that were damaged, foreign or gone: deleted and recomputed, never loaded. */
  readonly rejected: number;
  readonly evicted: number;
  readonly entries: number;
  readonly sizeBytes: number;
  readonly maxBytes: number;
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Keeps llama.cpp sequence states on disk by content key, one private namespace a user.
 * A state is found only by the user for whom it was kept, and only while its bytes hash to what was written:
 * llama.cpp itself checks neither, and a file that was cut short ends the process.
 */
export class StateStore {
  readonly #root: string;
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Entry>();
  #clock = 0;
  /** What was found last: it may be loaded again until the next search. */
  #found: Entry | undefined;
  #counts = { hits: 0, misses: 0, rejected: 0, evicted: 0 };

  /** @param root a folder of the store's own, made (0700) where there is none @throws BenchError `disk` where it cannot be made */
  constructor(root: string, maxBytes: number) {
    this.#root = root;
    this.#maxBytes = maxBytes;
    try {
      mkdirSync(root, { recursive: true, mode: 0o700 });
      this.#readIndex();
    } catch (cause) {
      throw new BenchError(
        'disk',
        `${root}: cannot keep K/V states there`,
        'name a folder that can be written: --kv-store DIR',
        cause,
      );
    }
  }

  /** The state of that key, its bytes verified; undefined where there is none that can be trusted. */
  find(userId: string, key: string): StoredState | undefined {
    const entry = this.#entries.get(this.#id(userId, key));
    this.#found = undefined;
    if (entry === undefined) {
      this.#counts.misses++;
      return undefined;
    }
    if (!this.#isIntact(entry)) {
      this.#counts.rejected++;
      this.#counts.misses++;
      this.#remove(entry);
      return undefined;
    }
    this.#counts.hits++;
    entry.usedAt = ++this.#clock;
    this.#found = entry;
    return { path: this.#path(entry), sizeBytes: entry.sizeBytes, tokens: entry.tokens };
  }

  /**
   * Keeps what `save` writes to the path that it is given, then evicts down to the bound.
   * @param tokens tokens that it took to compute the state
   * @param memoryIds the memories that it contains, for forgetting
   */
  async keep(
    userId: string,
    key: string,
    tokens: number,
    memoryIds: readonly string[],
    save: (path: string) => Promise<unknown>,
  ): Promise<StoredState> {
    const directory = this.#namespace(userId);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const path = join(directory, `${key}.state`);
    const temporary = `${path}.${process.pid}.new`;
    try {
      await save(temporary);
      chmodSync(temporary, 0o600);
      const bytes = readFileSync(temporary);
      const record: StateRecord = {
        key,
        sha256: sha256Of(bytes),
        sizeBytes: bytes.length,
        tokens,
        memoryIds: [...memoryIds],
      };
      renameSync(temporary, path);
      const recordPath = join(directory, `${key}.json`);
      writeFileSync(`${recordPath}.${process.pid}.new`, JSON.stringify(record), { mode: 0o600 });
      renameSync(`${recordPath}.${process.pid}.new`, recordPath);
      const entry: Entry = { ...record, directory, usedAt: ++this.#clock };
      this.#entries.set(this.#id(userId, key), entry);
      this.#evict(entry);
      return { path, sizeBytes: record.sizeBytes, tokens };
    } catch (cause) {
      rmSync(temporary, { force: true });
      if (cause instanceof BenchError) throw cause;
      throw new BenchError(
        'disk',
        `${directory}: a K/V state could not be written`,
        'free some space or lower what is kept',
        cause,
      );
    }
  }

  /** Deletes every state of the user that contains the memory, before it returns; gives their number. */
  forgetMemory(userId: string, memoryId: string): number {
    const directory = this.#namespace(userId);
    const affected = [...this.#entries.values()].filter(
      (entry) => entry.directory === directory && entry.memoryIds.includes(memoryId),
    );
    affected.forEach((entry) => this.#remove(entry));
    return affected.length;
  }

  /** Deletes everything. */
  clear(): void {
    for (const entry of [...this.#entries.values()]) this.#remove(entry);
  }

  stats(): StateStoreStats {
    return { ...this.#counts, entries: this.#entries.size, sizeBytes: this.#sizeBytes(), maxBytes: this.#maxBytes };
  }

  #id(userId: string, key: string): string {
    return `${this.#namespace(userId)}/${key}`;
  }

  #namespace(userId: string): string {
    return join(this.#root, createHash('sha256').update(userId).digest('hex').slice(0, 32));
  }

  #path(entry: Entry): string {
    return join(entry.directory, `${entry.key}.state`);
  }

  #sizeBytes(): number {
    let sum = 0;
    for (const entry of this.#entries.values()) sum += entry.sizeBytes;
    return sum;
  }

  #isIntact(entry: Entry): boolean {
    try {
      const bytes = readFileSync(this.#path(entry));
      return bytes.length === entry.sizeBytes && sha256Of(bytes) === entry.sha256;
    } catch {
      return false;
    }
  }

  #remove(entry: Entry): void {
    rmSync(this.#path(entry), { force: true });
    rmSync(join(entry.directory, `${entry.key}.json`), { force: true });
    this.#entries.delete(`${entry.directory}/${entry.key}`);
  }

  /** Gives up first what is cheap to recompute and long unused; never what was kept just now, or found last. */
  #evict(newest: Entry): void {
    let excess = this.#sizeBytes() - this.#maxBytes;
    if (excess <= 0) return;
    const worth = (entry: Entry): number => entry.tokens / (this.#clock - entry.usedAt + 1);
    const byWorth = [...this.#entries.values()]
      .filter((entry) => entry !== newest && entry !== this.#found)
      .sort((a, b) => worth(a) - worth(b));
    for (const entry of byWorth) {
      if (excess <= 0) return;
      this.#remove(entry);
      this.#counts.evicted++;
      excess -= entry.sizeBytes;
    }
  }

  /** Takes over what an earlier process kept; a state without its record is never loaded. */
  #readIndex(): void {
    for (const namespace of readdirSync(this.#root, { withFileTypes: true })) {
      if (!namespace.isDirectory() || !/^[0-9a-f]{32}$/.test(namespace.name)) continue;
      const directory = join(this.#root, namespace.name);
      for (const file of readdirSync(directory)) {
        if (file.endsWith('.new')) this.#removeStale(join(directory, file));
        if (!file.endsWith('.json')) continue;
        const record = this.#readRecord(join(directory, file));
        if (record !== undefined) this.#entries.set(`${directory}/${record.key}`, { ...record, directory, usedAt: 0 });
      }
    }
  }

  #readRecord(path: string): StateRecord | undefined {
    try {
      const parsed = recordSchema.safeParse(JSON.parse(readFileSync(path, 'utf8')));
      return parsed.success ? parsed.data : undefined;
    } catch {
      return undefined;
    }
  }

  /** Another process may be writing it at this moment: only what is an hour old is a left-over. */
  #removeStale(path: string): void {
    if (Date.now() - statSync(path).mtimeMs > 3_600_000) rmSync(path, { force: true });
  }
}
