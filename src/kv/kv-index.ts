import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BoundedEntries, type SizedEntry } from './eviction-queue.ts';
import { type KvEntry, type OrphanedCheckpoint, UserFolder } from './user-folder.ts';

/** Longer than the resolution of modification times in any file system except FAT (2 s). */
const CLOCK_TICK_MS = 100;

interface KnownEntry extends Readonly<KvEntry>, SizedEntry {
  readonly folder: UserFolder;
}

/**
 * The entries of all users' folders below one root, as far as this process knows them, with one bound in bytes for all.
 * Methods that delete KV return the checkpoints that no entry refers to any more.
 */
export class KvIndex {
  readonly #root: string;
  readonly #entries: BoundedEntries<KnownEntry>;
  /** Modification time of each folder when it was last read, by path. */
  readonly #readAt = new Map<string, number>();

  constructor(root: string, maxBytes: number) {
    this.#root = root;
    this.#entries = new BoundedEntries(maxBytes);
  }

  /** The folder of a user, named by a hash, so that no user text becomes a file name. */
  folder(userId: string): UserFolder {
    return new UserFolder(join(this.#root, createHash('sha256').update(userId).digest('hex').slice(0, 32)));
  }

  folders(): UserFolder[] {
    return readdirSync(this.#root, { withFileTypes: true })
      .filter((file) => file.isDirectory() && /^[0-9a-f]{32}$/.test(file.name))
      .map((file) => new UserFolder(join(this.#root, file.name)));
  }

  /** Notes that an entry was used. If another process wrote it, evicts down to the bound. */
  wasFound(folder: UserFolder, entry: KvEntry): OrphanedCheckpoint[] {
    const isNew = this.#entries.get(entryId(folder, entry.key)) === undefined;
    const used = this.#use(folder, entry);
    return isNew ? this.#evict(used) : [];
  }

  /** Notes that an entry was written, reads entries of other processes, and evicts down to the bound. */
  wasWritten(folder: UserFolder, entry: KvEntry): OrphanedCheckpoint[] {
    // Before the folder is read, where it would count as written by another process, and so as used twice.
    this.#use(folder, entry);
    const orphans = this.refresh();
    return [...orphans, ...this.#evict(this.#entries.get(entryId(folder, entry.key)))];
  }

  /** Notes that a key has no entry. */
  wasMissed(folder: UserFolder, key: string): void {
    this.#entries.delete(entryId(folder, key));
  }

  /** Reads every folder that has changed since it was last read. */
  refresh(): OrphanedCheckpoint[] {
    return this.folders().flatMap((folder) => {
      const changedAt = folder.changedAtMs();
      if (this.#readAt.get(folder.path) === changedAt) return [];
      const { orphans } = this.#read(folder, (key) => this.#entries.get(entryId(folder, key)));
      // A second change within the clock's resolution would have the same modification time.
      if (Date.now() - changedAt > CLOCK_TICK_MS) this.#readAt.set(folder.path, changedAt);
      return orphans;
    });
  }

  /** Deletes the matching entries of a folder, written by any process, then evicts down to the bound. */
  removeAll(
    folder: UserFolder,
    matches: (entry: KvEntry) => boolean,
  ): { readonly count: number; readonly orphans: readonly OrphanedCheckpoint[] } {
    const { entries, orphans } = this.#read(folder);
    const affected = entries.filter(matches);
    const removed = affected.flatMap(({ key }) => this.remove(folder, key));
    return { count: affected.length, orphans: [...orphans, ...removed, ...this.#evict()] };
  }

  /** Deletes the entry of a key, written by any process. */
  remove(folder: UserFolder, key: string): OrphanedCheckpoint[] {
    this.#entries.delete(entryId(folder, key));
    return folder.remove(key);
  }

  /** Deletes the entry of a key unless another process has replaced the one that this process knows. */
  removeKnown(folder: UserFolder, key: string): OrphanedCheckpoint[] {
    return folder.remove(key, this.#entries.delete(entryId(folder, key))?.payload);
  }

  stats(): ReturnType<BoundedEntries<KnownEntry>['stats']> {
    return this.#entries.stats();
  }

  #use(folder: UserFolder, entry: KvEntry): KnownEntry {
    const used = this.#know(folder, entry);
    this.#entries.use(used);
    return used;
  }

  /** Replaces what was known of an entry, except its last use. */
  #know(folder: UserFolder, entry: KvEntry): KnownEntry {
    const id = entryId(folder, entry.key);
    const before = this.#entries.get(id);
    if (before?.payload === entry.payload) return before;
    const usedAt = this.#entries.delete(id)?.usedAt ?? 0;
    const known = { ...entry, id, folder, usedAt };
    this.#entries.add(known);
    return known;
  }

  #read(folder: UserFolder, known?: (key: string) => KvEntry | undefined): ReturnType<UserFolder['entries']> {
    const found = folder.entries(known);
    const keys = new Set(found.entries.map(({ key }) => key));
    for (const { id, folder: own, key } of this.#entries) {
      if (own.path === folder.path && !keys.has(key)) this.#entries.delete(id);
    }
    for (const entry of found.entries) {
      // An entry that another process wrote counts as used now.
      if (this.#entries.get(entryId(folder, entry.key)) === undefined) this.#use(folder, entry);
      else this.#know(folder, entry);
    }
    return found;
  }

  /** Evicts down to the bound, but never the newest entry. */
  #evict(newest?: KnownEntry): OrphanedCheckpoint[] {
    const orphans: OrphanedCheckpoint[] = [];
    for (let least = this.#entries.nextToEvict(newest); least; least = this.#entries.nextToEvict(newest)) {
      this.#entries.evict(least);
      orphans.push(...least.folder.remove(least.key));
    }
    return orphans;
  }
}

function entryId(folder: UserFolder, key: string): string {
  return `${folder.path}/${key}`;
}
