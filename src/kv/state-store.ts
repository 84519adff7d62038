import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { diskError } from './disk-error.ts';
import {
  removeAbandoned,
  StateFolder,
  type StateRecord,
  type VerifiedState,
  type WrittenState,
} from './state-folder.ts';

/** Longer than any file system takes to tell two changes of a folder apart, but for FAT's 2 s. */
const CLOCK_TICK_MS = 100;

interface Entry extends StateRecord {
  readonly folder: StateFolder;
  /** Position in the order of use; the largest was used last. */
  readonly usedAt: number;
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

/**
 * Keeps llama.cpp sequence states on disk by content key, one private namespace a user.
 * A state is found only by the user for whom it was kept, and only while its bytes are those that were written:
 * llama.cpp itself checks neither, and a file that was cut short ends the process.
 *
 * Two processes may share a folder: each looks at the disk for what it does not know. The bound holds for all of them
 * together, since each looks at what the others kept whenever it keeps something itself.
 */
export class StateStore {
  readonly #root: string;
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Entry>();
  /** By path of a folder, when it had changed last as it was looked at. */
  readonly #seenChange = new Map<string, number>();
  #clock = 0;
  #counts = { hits: 0, misses: 0, rejected: 0, evicted: 0 };

  /** @param root a folder of the store's own, made (0700) where there is none @throws BenchError `disk` where it cannot be made */
  constructor(root: string, maxBytes: number) {
    this.#root = root;
    this.#maxBytes = maxBytes;
    this.#onDisk('cannot keep K/V states there', () => {
      mkdirSync(root, { recursive: true, mode: 0o700 });
      removeAbandoned(root, readdirSync(root));
      this.#folders().forEach((folder) => this.#takeOver(folder, folder.records()));
    });
  }

  /**
   * The state of that key, its bytes verified; undefined where there is none that can be trusted.
   * @throws BenchError `disk` where the folder cannot be read
   */
  find(userId: string, key: string): StoredState | undefined {
    const state = this.#verified(userId, key);
    return state && { path: state.path, sizeBytes: state.record.sizeBytes, tokens: state.record.tokens };
  }

  /** As `find`, with the bytes themselves, which no other process can take away any more. */
  read(userId: string, key: string): VerifiedState | undefined {
    return this.#verified(userId, key);
  }

  /** Deletes a state that was found and could not be used; it counts as rejected and no longer as a hit. */
  reject(userId: string, key: string): void {
    this.#counts.hits--;
    this.#counts.misses++;
    this.#counts.rejected++;
    this.#remove(this.#folder(userId), key);
  }

  /**
   * Keeps what `save` writes to the path that it is given, then evicts down to the bound.
   * @param tokens tokens that it took to compute the state
   * @param memoryIds the memories that it contains, for forgetting
   * @throws BenchError `disk`
   */
  async keep(
    userId: string,
    key: string,
    tokens: number,
    memoryIds: readonly string[],
    save: (path: string) => Promise<unknown>,
  ): Promise<StoredState> {
    const folder = this.#folder(userId);
    try {
      return this.#wasKept(folder, await folder.write(key, { tokens, memoryIds: [...memoryIds] }, save));
    } catch (cause) {
      throw notWritten(folder, cause);
    }
  }

  /** As `keep`, of a state whose bytes are at hand. */
  keepBytes(userId: string, key: string, tokens: number, memoryIds: readonly string[], bytes: Uint8Array): StoredState {
    const folder = this.#folder(userId);
    try {
      return this.#wasKept(folder, folder.writeBytes(key, { tokens, memoryIds: [...memoryIds] }, bytes));
    } catch (cause) {
      throw notWritten(folder, cause);
    }
  }

  /** Deletes every state of the user that contains the memory, whoever kept it, before it returns; gives their number. */
  forgetMemory(userId: string, memoryId: string): number {
    const folder = this.#folder(userId);
    return this.#onDisk('K/V states cannot be forgotten', () => {
      const affected = this.#takeOver(folder, folder.records()).filter((record) => record.memoryIds.includes(memoryId));
      affected.forEach(({ key }) => this.#remove(folder, key));
      return affected.length;
    });
  }

  /** Deletes everything, whoever kept it. */
  clear(): void {
    this.#onDisk('K/V states cannot be deleted', () => {
      for (const folder of this.#folders()) {
        for (const { key } of this.#takeOver(folder, folder.records())) this.#remove(folder, key);
      }
    });
    this.#entries.clear();
  }

  stats(): StateStoreStats {
    return { ...this.#counts, entries: this.#entries.size, sizeBytes: this.#sizeBytes(), maxBytes: this.#maxBytes };
  }

  /** A path for a file of this process alone, inside the private folder. Whoever writes it deletes it. */
  scratchPath(): string {
    return join(this.#root, `scratch.${randomUUID()}.${process.pid}.new`);
  }

  #verified(userId: string, key: string): VerifiedState | undefined {
    const folder = this.#folder(userId);
    const state = this.#onDisk('a K/V state cannot be read', () => folder.read(key));
    if (typeof state === 'string') {
      this.#counts.misses++;
      if (state === 'missing') this.#entries.delete(idOf(folder, key));
      else {
        this.#counts.rejected++;
        this.#remove(folder, key);
      }
      return undefined;
    }
    this.#counts.hits++;
    const id = idOf(folder, key);
    const isNew = !this.#entries.has(id);
    this.#entries.set(id, { ...state.record, folder, usedAt: ++this.#clock });
    if (isNew) this.#evict(id);
    return state;
  }

  #wasKept(folder: StateFolder, { record, path }: WrittenState): StoredState {
    this.#lookAround();
    const id = idOf(folder, record.key);
    this.#entries.set(id, { ...record, folder, usedAt: ++this.#clock });
    this.#evict(id);
    return { path, sizeBytes: record.sizeBytes, tokens: record.tokens };
  }

  /** Looks at every folder that has changed since it was looked at. */
  #lookAround(): void {
    for (const folder of this.#folders()) {
      const changedAt = folder.changedAtMs();
      if (this.#seenChange.get(folder.path) === changedAt) continue;
      this.#takeOver(
        folder,
        folder.records((known) => this.#entries.get(idOf(folder, known))),
      );
      // A second change within one tick of the file system's clock would look like the first.
      if (Date.now() - changedAt > CLOCK_TICK_MS) this.#seenChange.set(folder.path, changedAt);
    }
  }

  /** Takes over what other processes kept or deleted in a folder since it was last looked at. */
  #takeOver(folder: StateFolder, records: readonly StateRecord[]): readonly StateRecord[] {
    const there = new Set(records.map(({ key }) => idOf(folder, key)));
    for (const [id, entry] of this.#entries) {
      if (entry.folder.path === folder.path && !there.has(id)) this.#entries.delete(id);
    }
    for (const record of records) {
      // What another process kept meanwhile is as new to this one as what it kept itself.
      const usedAt = this.#entries.get(idOf(folder, record.key))?.usedAt ?? this.#clock;
      this.#entries.set(idOf(folder, record.key), { ...record, folder, usedAt });
    }
    return records;
  }

  #folders(): StateFolder[] {
    return readdirSync(this.#root, { withFileTypes: true })
      .filter((file) => file.isDirectory() && /^[0-9a-f]{32}$/.test(file.name))
      .map((file) => new StateFolder(join(this.#root, file.name)));
  }

  /** No text of a user names a folder: its hash does. */
  #folder(userId: string): StateFolder {
    return new StateFolder(join(this.#root, createHash('sha256').update(userId).digest('hex').slice(0, 32)));
  }

  #sizeBytes(): number {
    let sum = 0;
    for (const entry of this.#entries.values()) sum += entry.sizeBytes;
    return sum;
  }

  #remove(folder: StateFolder, key: string): void {
    folder.remove(key);
    this.#entries.delete(idOf(folder, key));
  }

  /** Gives up first what is cheap to recompute and long unused; never what was kept just now. */
  #evict(newest: string): void {
    let excess = this.#sizeBytes() - this.#maxBytes;
    if (excess <= 0) return;
    const worth = (entry: Entry): number => entry.tokens / (this.#clock - entry.usedAt + 1);
    const byWorth = [...this.#entries].filter(([id]) => id !== newest).sort(([, a], [, b]) => worth(a) - worth(b));
    for (const [, entry] of byWorth) {
      if (excess <= 0) return;
      this.#remove(entry.folder, entry.key);
      this.#counts.evicted++;
      excess -= entry.sizeBytes;
    }
  }

  #onDisk<T>(what: string, act: () => T): T {
    try {
      return act();
    } catch (cause) {
      throw diskError(this.#root, what, 'name a folder that can be written: --kv-store DIR', cause);
    }
  }
}

function notWritten({ path }: StateFolder, cause: unknown): unknown {
  const hint = 'free some space, lower what is kept, or name a folder that can be written: --kv-store DIR';
  return diskError(path, 'a K/V state could not be written', hint, cause);
}

function idOf(folder: StateFolder, key: string): string {
  return `${folder.path}/${key}`;
}
