import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { UserFolder, type OrphanedCheckpoint } from './user-folder.ts';
import type { KvEntry } from './kv-record.ts';

/** Longer than any file system takes to tell two changes of a folder apart, but for FAT's 2 s. */
const CLOCK_TICK_MS = 100;

interface KnownEntry extends KvEntry {
  readonly folder: UserFolder;
  /** Position in the order of use; the largest was used last. */
  readonly usedAt: number;
}

/**
 * The entries of all users' folders below one root, as far as this process knows them, in order of use: one bound of
 * bytes for all. Methods that take KV away give the checkpoints whose bytes are nobody's then.
 */
export class KvIndex {
  readonly #root: string;
  readonly #maxBytes: number;
  readonly #entries = new Map<string, KnownEntry>();
  /** By path of a folder, the time of its last change when it was looked at. */
  readonly #seenChange = new Map<string, number>();
  #clock = 0;
  #evicted = 0;

  constructor(root: string, maxBytes: number) {
    this.#root = root;
    this.#maxBytes = maxBytes;
  }

  /** Entries that were given up for the bound. */
  get evicted(): number {
    return this.#evicted;
  }

  get size(): number {
    return this.#entries.size;
  }

  get sizeBytes(): number {
    let sum = 0;
    for (const { sizeBytes } of this.#entries.values()) sum += sizeBytes;
    return sum;
  }

  /** The folder of a user. No text of a user names one: its hash does. */
  folder(userId: string): UserFolder {
    return new UserFolder(join(this.#root, createHash('sha256').update(userId).digest('hex').slice(0, 32)));
  }

  folders(): UserFolder[] {
    return readdirSync(this.#root, { withFileTypes: true })
      .filter((file) => file.isDirectory() && /^[0-9a-f]{32}$/.test(file.name))
      .map((file) => new UserFolder(join(this.#root, file.name)));
  }

  /** Notes that an entry was used; where that is the first that is heard of it, evicts down to the bound. */
  wasFound(folder: UserFolder, entry: KvEntry): OrphanedCheckpoint[] {
    const isNew = !this.#entries.has(idOf(folder, entry.key));
    this.#use(folder, entry);
    return isNew ? this.#evict(idOf(folder, entry.key)) : [];
  }

  /** Notes that an entry was kept, looks at what other processes kept meanwhile, and evicts down to the bound. */
  wasKept(folder: UserFolder, entry: KvEntry): OrphanedCheckpoint[] {
    const orphans = this.lookAround();
    this.#use(folder, entry);
    return [...orphans, ...this.#evict(idOf(folder, entry.key))];
  }

  /** Notes that an entry is not there. */
  wasMissed(folder: UserFolder, key: string): void {
    this.#entries.delete(idOf(folder, key));
  }

  /** Looks at every folder that has changed since it was looked at. */
  lookAround(): OrphanedCheckpoint[] {
    return this.folders().flatMap((folder) => {
      const changedAt = folder.changedAtMs();
      if (this.#seenChange.get(folder.path) === changedAt) return [];
      const { orphans } = this.#takeOver(folder, (key) => this.#entries.get(idOf(folder, key)));
      // A second change within one tick of the file system's clock would look like the first.
      if (Date.now() - changedAt > CLOCK_TICK_MS) this.#seenChange.set(folder.path, changedAt);
      return orphans;
    });
  }

  /** Deletes those entries of a folder, whoever kept them, that are to go, then down to the bound; gives their number. */
  removeAll(
    folder: UserFolder,
    isToGo: (entry: KvEntry) => boolean,
  ): { readonly count: number; readonly orphans: readonly OrphanedCheckpoint[] } {
    const { entries, orphans } = this.#takeOver(folder);
    const affected = entries.filter(isToGo);
    const removed = affected.flatMap(({ key }) => this.remove(folder, key));
    return { count: affected.length, orphans: [...orphans, ...removed, ...this.#evict()] };
  }

  /** Deletes whatever is kept for a key. */
  remove(folder: UserFolder, key: string): OrphanedCheckpoint[] {
    this.#entries.delete(idOf(folder, key));
    return folder.remove(key);
  }

  /** Deletes an entry that this process knows, not what another put in its place. */
  removeKnown(folder: UserFolder, key: string): OrphanedCheckpoint[] {
    const id = idOf(folder, key);
    const known = this.#entries.get(id);
    this.#entries.delete(id);
    return folder.remove(key, known?.payload);
  }

  #use(folder: UserFolder, entry: KvEntry): void {
    this.#entries.set(idOf(folder, entry.key), { ...entry, folder, usedAt: ++this.#clock });
  }

  /** Takes over what other processes kept or deleted in a folder since it was last looked at. */
  #takeOver(folder: UserFolder, known?: (key: string) => KvEntry | undefined): ReturnType<UserFolder['entries']> {
    const found = folder.entries(known);
    const there = new Set(found.entries.map(({ key }) => idOf(folder, key)));
    for (const [id, entry] of this.#entries) {
      if (entry.folder.path === folder.path && !there.has(id)) this.#entries.delete(id);
    }
    for (const entry of found.entries) {
      const id = idOf(folder, entry.key);
      // What another process kept meanwhile is as new to this one as what it kept itself.
      this.#entries.set(id, { ...entry, folder, usedAt: this.#entries.get(id)?.usedAt ?? this.#clock });
    }
    return found;
  }

  /** Gives up first what is cheap to recompute and long unused; never what was kept or found just now. */
  #evict(newest?: string): OrphanedCheckpoint[] {
    let excess = this.sizeBytes - this.#maxBytes;
    if (excess <= 0) return [];
    const worth = (entry: KnownEntry): number => entry.tokens / (this.#clock - entry.usedAt + 1);
    const byWorth = [...this.#entries].filter(([id]) => id !== newest).sort(([, a], [, b]) => worth(a) - worth(b));
    const orphans: OrphanedCheckpoint[] = [];
    for (const [, entry] of byWorth) {
      if (excess <= 0) break;
      orphans.push(...this.remove(entry.folder, entry.key));
      this.#evicted++;
      excess -= entry.sizeBytes;
    }
    return orphans;
  }
}

function idOf(folder: UserFolder, key: string): string {
  return `${folder.path}/${key}`;
}
