import { mkdirSync } from 'node:fs';
import { BenchError } from '../base/bench-error.ts';
import { diskErrorHint } from '../base/disk-error-hint.ts';
import { removeAny } from '../base/read-remove-rename-files.ts';
import type { Checkpoint } from '../engine/engine-session.ts';
import { KvIndex } from './kv-index.ts';
import type { AboutKv, OwnedKv } from './kv-key.ts';
import type { FindTimes, FoundKv, KvEntry, NotFound, OrphanedCheckpoint, UserFolder, Written } from './user-folder.ts';

/** The engine, which stores the bytes of checkpoints. */
export interface CheckpointKeeper {
  /** Deletes the bytes, if there are any. */
  deleteCheckpoint(checkpoint: Pick<Checkpoint, 'id'>): Promise<void>;
}

/** A block whose bytes were verified. */
export interface StoredBlock extends AboutKv {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Counts since the store was opened. */
export interface KvStoreStats {
  readonly hits: number;
  readonly misses: number;
  /** Unusable KV: damaged entries, entries of another user or other tokens, lost bytes, or KV computed for other tokens. */
  readonly rejected: number;
  readonly evicted: number;
  readonly entries: number;
  readonly sizeBytes: number;
  readonly maxBytes: number;
}

/**
 * Stores KV on disk by content key, in a private namespace for each user. An entry is either a block, with its bytes in the
 * store's folder, or a checkpoint, with its bytes in the engine. Only its user finds an entry, and only if it is undamaged.
 * All entries share one bound in bytes; entries that are cheap to recompute and long unused are evicted first.
 *
 * Processes may share a folder if their engines share one folder of checkpoints: each process reads unknown entries from
 * disk and enforces the bound over all entries.
 *
 * @example
 * declare const engine: Engine;
 * declare const tokenIds: readonly number[];
 * const store = await KvStore.open('kv', 2 ** 30, engine);
 * const key = kvKey({ stateIdentity: engine.info.stateIdentity!, template: 'plain', tokenIds });
 * await using session = await engine.openSession('ann');
 * const kept = await store.findCheckpoint('ann', key);
 * if (kept === undefined) {
 *   await session.evaluate(tokenIds);
 *   await store.keepCheckpoint('ann', key, ['memory-1'], (id) => session.checkpoint({ id }));
 * } else {
 *   await session.restore(kept);
 * }
 * await store.forgetMemory('ann', 'memory-1');
 */
export class KvStore {
  readonly #root: string;
  readonly #keeper: CheckpointKeeper;
  readonly #index: KvIndex;
  /** Checkpoints in the making. */
  readonly #inWork = new Set<Promise<unknown>>();
  #counts = { hits: 0, misses: 0, rejected: 0 };

  private constructor(root: string, maxBytes: number, keeper: CheckpointKeeper) {
    this.#root = root;
    this.#keeper = keeper;
    this.#index = new KvIndex(root, maxBytes);
  }

  /**
   * Opens a store on a separate folder, created (0700) if missing, and deletes unfinished files of killed processes.
   * @param keeper the engine that makes and restores checkpoints
   * @throws BenchError `disk`
   */
  static async open(root: string, maxBytes: number, keeper: CheckpointKeeper): Promise<KvStore> {
    const store = new KvStore(root, maxBytes, keeper);
    await store.#onDisk('cannot keep KV states there', async () => {
      mkdirSync(root, { recursive: true, mode: 0o700 });
      await store.#deleteCheckpoints(store.#index.refresh());
    });
    return store;
  }

  /**
   * Finds the record of a checkpoint. The engine verifies the bytes when it restores them: if they are damaged, or another
   * process has deleted them, call `reject`.
   * @throws BenchError `disk`
   */
  async findCheckpoint(userId: string, key: string): Promise<Checkpoint | undefined> {
    return (await this.#find(userId, key, (folder) => folder.readCheckpoint(key)))?.content;
  }

  /** Finds a block and verifies its bytes. @param spent times to add to, in ms @throws BenchError `disk` */
  async findBlock(userId: string, key: string, spent?: FindTimes): Promise<StoredBlock | undefined> {
    const found = await this.#find(userId, key, (folder) => folder.readBlock(key, spent));
    return found && { bytes: found.content, tokens: found.entry.tokens, memoryIds: found.entry.memoryIds };
  }

  /** Deletes an entry that turned out unusable; counts it as rejected instead of as a hit. */
  async reject(userId: string, key: string): Promise<void> {
    this.#counts.hits--;
    this.#counts.misses++;
    this.#counts.rejected++;
    await this.discard(userId, key);
  }

  /** Deletes the entry of a key unless another process has replaced the one that this process knows. */
  async discard(userId: string, key: string): Promise<void> {
    await this.#onDisk('a KV state cannot be deleted', () =>
      this.#deleteCheckpoints(this.#index.removeKnown(this.#index.folder(userId), key)),
    );
  }

  /** Counts KV that was computed but not stored because its tokens are not those of its key. */
  countRejected(): void {
    this.#counts.rejected++;
  }

  /**
   * Stores a checkpoint, then evicts down to the bound. Its cost is the number of its tokens.
   * @param memoryIds the memories in it; deleting any of them deletes the checkpoint
   * @param make makes the checkpoint under the given id, which is written to disk before
   * @throws BenchError `disk`, or any error of `make`; then nothing is stored
   */
  async keepCheckpoint(
    userId: string,
    key: string,
    memoryIds: readonly string[],
    make: (id: string) => Promise<Checkpoint>,
  ): Promise<Checkpoint> {
    const folder = this.#index.folder(userId);
    const work = this.#write(folder, async () => {
      const unfinished = folder.beginCheckpoint(key);
      try {
        const checkpoint = await make(unfinished.id);
        if (checkpoint.id !== unfinished.id)
          throw new RangeError(`checkpoint ${checkpoint.id} was made as ${unfinished.id}`);
        const about = { tokens: checkpoint.tokens.length, memoryIds };
        return { checkpoint, ...folder.finishCheckpoint(unfinished, key, about, checkpoint) };
      } catch (error) {
        removeAny(unfinished.record);
        // If this fails, the mark stays, and the next process that opens the store tries again.
        await this.#deleteCheckpoints([unfinished]).catch(() => undefined);
        throw error;
      }
    });
    this.#inWork.add(work);
    try {
      return (await work).checkpoint;
    } finally {
      this.#inWork.delete(work);
    }
  }

  /** Stores the bytes of a block, then evicts down to the bound. @throws BenchError `disk` */
  async keepBlock({ userId, key, ...about }: OwnedKv, bytes: Uint8Array): Promise<void> {
    const folder = this.#index.folder(userId);
    await this.#write(folder, () => folder.writeBlock(key, about, bytes));
  }

  /** Deletes all entries of the user that contain the memory, written by any process. @returns their number */
  forgetMemory(userId: string, memoryId: string): Promise<number> {
    return this.#forget(userId, ({ memoryIds }) => memoryIds.includes(memoryId));
  }

  /** Deletes all entries of the user written at `sinceMs` or later, by any process. @returns their number */
  forgetSince(userId: string, sinceMs: number): Promise<number> {
    return this.#forget(userId, ({ key }, folder) => folder.writtenAtMs(key) >= sinceMs);
  }

  async #forget(userId: string, matches: (entry: KvEntry, folder: UserFolder) => boolean): Promise<number> {
    await Promise.allSettled(this.#inWork);
    return this.#onDisk('KV states cannot be forgotten', async () => {
      const folder = this.#index.folder(userId);
      const { count, orphans } = this.#index.removeAll(folder, (entry) => matches(entry, folder));
      await this.#deleteCheckpoints(orphans);
      return count;
    });
  }

  /** Deletes the entries of all users, written by any process. */
  async clear(): Promise<void> {
    await Promise.allSettled(this.#inWork);
    await this.#onDisk('KV states cannot be deleted', async () => {
      for (const folder of this.#index.folders()) {
        await this.#deleteCheckpoints(this.#index.removeAll(folder, () => true).orphans);
      }
    });
  }

  /** Counts since the store was opened, and its current size. */
  stats(): KvStoreStats {
    return { ...this.#counts, ...this.#index.stats() };
  }

  async #find<Content>(
    userId: string,
    key: string,
    read: (folder: UserFolder) => FoundKv<Content> | NotFound,
  ): Promise<FoundKv<Content> | undefined> {
    const folder = this.#index.folder(userId);
    return this.#onDisk('a KV state cannot be read', async () => {
      const found = read(folder);
      if (typeof found === 'object') {
        this.#counts.hits++;
        await this.#deleteCheckpoints(this.#index.wasFound(folder, found.entry));
        return found;
      }
      this.#counts.misses++;
      if (found === 'missing') this.#index.wasMissed(folder, key);
      if (found === 'damaged') {
        this.#counts.rejected++;
        await this.#deleteCheckpoints(this.#index.remove(folder, key));
      }
      return undefined;
    });
  }

  #write<Result extends Written>(folder: UserFolder, write: () => Result | Promise<Result>): Promise<Result> {
    const act = async (): Promise<Result> => {
      const written = await write();
      await this.#deleteCheckpoints([...written.orphans, ...this.#index.wasWritten(folder, written.entry)]);
      return written;
    };
    return this.#onDisk('a KV state could not be written', act, folder.path);
  }

  /** Deletes the bytes of checkpoints that no entry refers to, then their marks. */
  async #deleteCheckpoints(orphans: readonly OrphanedCheckpoint[]): Promise<void> {
    for (const { id, mark } of orphans) {
      await this.#keeper.deleteCheckpoint({ id });
      removeAny(mark);
    }
  }

  /** Turns file errors into BenchError `disk`. @param written the folder that is written, if any */
  async #onDisk<Result>(what: string, act: () => Promise<Result>, written?: string): Promise<Result> {
    try {
      return await act();
    } catch (cause) {
      // Errors of the engine or the caller need no explanation.
      if (cause instanceof BenchError || cause instanceof RangeError) throw cause;
      const { code, message } = cause as NodeJS.ErrnoException;
      const hint = `${diskErrorHint(cause)}, or name another folder: --kv-store DIR`;
      throw new BenchError('disk', `${written ?? this.#root}: ${what}: ${code ?? message}`, hint, cause);
    }
  }
}
