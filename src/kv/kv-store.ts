import { mkdirSync } from 'node:fs';
import { BenchError } from '../base/bench-error.ts';
import { removeWhatever } from '../base/regular-file.ts';
import type { Checkpoint } from '../engine/checkpoint.ts';
import type { FoundKv, UserFolder, NotFound, OrphanedCheckpoint } from './user-folder.ts';
import { KvIndex } from './kv-index.ts';
import type { AboutKv } from './kv-record.ts';

/** An engine, as far as a store needs one: it has the bytes of checkpoints. */
export interface CheckpointKeeper {
  /** Deletes the bytes; a checkpoint that is gone already is no error. */
  deleteCheckpoint(checkpoint: Pick<Checkpoint, 'id'>): Promise<void>;
}

/** A block whose bytes were just found to be those that were kept. */
export interface StoredBlock extends AboutKv {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Counts since the store was opened. */
export interface KvStoreStats {
  readonly hits: number;
  readonly misses: number;
  /** Entries that were damaged, foreign, of other tokens or gone, and KV that was computed of other tokens: never used. */
  readonly rejected: number;
  readonly evicted: number;
  readonly entries: number;
  readonly sizeBytes: number;
  readonly maxBytes: number;
}

/**
 * Keeps KV beyond a turn by content key, one private namespace a user. An entry is a block, whose bytes lie in the
 * store's folder, or a checkpoint, whose bytes the engine has; a key names one or the other. An entry is found only by
 * the user for whom it was kept, and only while it is what was kept. All entries share one bound of bytes: evicted first
 * is what is cheap to recompute and long unused.
 *
 * Two processes may share a folder: each looks at the disk for what it does not know. The bound holds for all of them
 * together, since each looks at what the others kept whenever it keeps something itself. Their engines must share one
 * folder of checkpoints as well.
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
  readonly #maxBytes: number;
  readonly #keeper: CheckpointKeeper;
  readonly #index: KvIndex;
  /** Checkpoints that are being made. */
  readonly #inWork = new Set<Promise<unknown>>();
  #counts = { hits: 0, misses: 0, rejected: 0 };

  private constructor(root: string, maxBytes: number, keeper: CheckpointKeeper) {
    this.#root = root;
    this.#maxBytes = maxBytes;
    this.#keeper = keeper;
    this.#index = new KvIndex(root, maxBytes);
  }

  /**
   * Opens a store on a folder of its own, made (0700) where there is none, and deletes what killed processes left there
   * unfinished.
   * @param keeper the engine that makes and restores the checkpoints
   * @throws BenchError `disk`
   */
  static async open(root: string, maxBytes: number, keeper: CheckpointKeeper): Promise<KvStore> {
    const store = new KvStore(root, maxBytes, keeper);
    await store.#onDisk('cannot keep KV states there', async () => {
      mkdirSync(root, { recursive: true, mode: 0o700 });
      await store.#discard(store.#index.lookAround());
    });
    return store;
  }

  /**
   * The checkpoint of that key, by its record: the engine verifies the bytes when it restores them. Where it refuses
   * them as damaged, or another process has taken them away meanwhile, call `reject`.
   * @throws BenchError `disk` where the folder cannot be read
   */
  async findCheckpoint(userId: string, key: string): Promise<Checkpoint | undefined> {
    return (await this.#find(userId, key, (folder) => folder.readCheckpoint(key)))?.checkpoint;
  }

  /** The block of that key, its bytes verified. @throws BenchError `disk` where the folder cannot be read */
  async findBlock(userId: string, key: string): Promise<StoredBlock | undefined> {
    const found = await this.#find(userId, key, (folder) => folder.readBlock(key));
    return found && { bytes: found.bytes, tokens: found.entry.tokens, memoryIds: found.entry.memoryIds };
  }

  /** Deletes an entry that was found and could not be used; it counts as rejected and no longer as a hit. */
  async reject(userId: string, key: string): Promise<void> {
    this.#counts.hits--;
    this.#counts.misses++;
    this.#counts.rejected++;
    await this.discard(userId, key);
  }

  /** Deletes the entry that this process knows under a key, if there is one. */
  async discard(userId: string, key: string): Promise<void> {
    await this.#onDisk('a KV state cannot be deleted', () =>
      this.#discard(this.#index.removeKnown(this.#index.folder(userId), key)),
    );
  }

  /** Counts KV that was computed and is not kept, since its tokens are others than those of its key. */
  countRejected(): void {
    this.#counts.rejected++;
  }

  /**
   * Keeps a checkpoint, then evicts down to the bound. Its cost is the number of its tokens.
   * @param memoryIds the memories that it contains, for forgetting
   * @param make makes it under the id that it is given, which is written down by then
   * @throws BenchError `disk`, and any other that `make` throws; nothing is kept then
   */
  async keepCheckpoint(
    userId: string,
    key: string,
    memoryIds: readonly string[],
    make: (id: string) => Promise<Checkpoint>,
  ): Promise<Checkpoint> {
    const folder = this.#index.folder(userId);
    const work = this.#written(folder, () => this.#make(folder, key, memoryIds, make));
    this.#inWork.add(work);
    try {
      return await work;
    } finally {
      this.#inWork.delete(work);
    }
  }

  /**
   * Keeps the bytes of a block, then evicts down to the bound.
   * @param tokens tokens that it took to compute the block
   * @param memoryIds the memories that it contains, for forgetting
   * @throws BenchError `disk`
   */
  async keepBlock(
    userId: string,
    key: string,
    tokens: number,
    memoryIds: readonly string[],
    bytes: Uint8Array,
  ): Promise<void> {
    const folder = this.#index.folder(userId);
    await this.#written(folder, async () => {
      const { entry, orphans } = folder.writeBlock(key, { tokens, memoryIds: [...memoryIds] }, bytes);
      await this.#discard([...orphans, ...this.#index.wasKept(folder, entry)]);
    });
  }

  /** Deletes every entry of the user that contains the memory, whoever kept it, before it returns; gives their number. */
  async forgetMemory(userId: string, memoryId: string): Promise<number> {
    await Promise.allSettled(this.#inWork);
    return this.#onDisk('KV states cannot be forgotten', async () => {
      const contains = (entry: AboutKv): boolean => entry.memoryIds.includes(memoryId);
      const { count, orphans } = this.#index.removeAll(this.#index.folder(userId), contains);
      await this.#discard(orphans);
      return count;
    });
  }

  /** Deletes everything, whoever kept it. */
  async clear(): Promise<void> {
    await Promise.allSettled(this.#inWork);
    await this.#onDisk('KV states cannot be deleted', async () => {
      for (const folder of this.#index.folders()) {
        await this.#discard(this.#index.removeAll(folder, () => true).orphans);
      }
    });
  }

  /** Counts since the store was opened, and its size now. */
  stats(): KvStoreStats {
    const { evicted, size, sizeBytes } = this.#index;
    return { ...this.#counts, evicted, entries: size, sizeBytes, maxBytes: this.#maxBytes };
  }

  async #find<T extends FoundKv>(
    userId: string,
    key: string,
    look: (folder: UserFolder) => T | NotFound,
  ): Promise<T | undefined> {
    const folder = this.#index.folder(userId);
    return this.#onDisk('a KV state cannot be read', async () => {
      const found = look(folder);
      if (typeof found === 'object') {
        this.#counts.hits++;
        await this.#discard(this.#index.wasFound(folder, found.entry));
        return found;
      }
      this.#counts.misses++;
      if (found === 'missing') this.#index.wasMissed(folder, key);
      if (found === 'damaged') {
        this.#counts.rejected++;
        await this.#discard(this.#index.remove(folder, key));
      }
      return undefined;
    });
  }

  async #make(
    folder: UserFolder,
    key: string,
    memoryIds: readonly string[],
    make: (id: string) => Promise<Checkpoint>,
  ): Promise<Checkpoint> {
    const unfinished = folder.beginCheckpoint(key);
    const written = await (async () => {
      const checkpoint = await make(unfinished.id);
      if (checkpoint.id !== unfinished.id)
        throw new RangeError(`checkpoint ${checkpoint.id} was made as ${unfinished.id}`);
      const about = { tokens: checkpoint.tokens.length, memoryIds: [...memoryIds] };
      return { checkpoint, ...folder.finishCheckpoint(unfinished, key, about, checkpoint) };
    })().catch(async (error: unknown) => {
      folder.abandonCheckpoint(unfinished);
      // Where this fails the mark stays, and who opens the store next tries again.
      await this.#discard([unfinished]).catch(() => undefined);
      throw error;
    });
    await this.#discard([...written.orphans, ...this.#index.wasKept(folder, written.entry)]);
    return written.checkpoint;
  }

  /** Deletes the bytes of checkpoints that are nobody's, then their marks. */
  async #discard(orphans: readonly OrphanedCheckpoint[]): Promise<void> {
    for (const { id, mark } of orphans) {
      await this.#keeper.deleteCheckpoint({ id });
      removeWhatever(mark);
    }
  }

  async #onDisk<T>(what: string, act: () => Promise<T>, path = this.#root, space = ''): Promise<T> {
    try {
      return await act();
    } catch (cause) {
      // Each says enough: of the engine, and of a caller's mistake.
      if (cause instanceof BenchError || cause instanceof RangeError) throw cause;
      const { code, message } = cause as NodeJS.ErrnoException;
      const hint = `${space}name a folder that can be written: --kv-store DIR`;
      throw new BenchError('disk', `${path}: ${what}: ${code ?? message}`, hint, cause);
    }
  }

  #written<T>({ path }: UserFolder, act: () => Promise<T>): Promise<T> {
    return this.#onDisk('a KV state could not be written', act, path, 'free some space, lower what is kept, or ');
  }
}
