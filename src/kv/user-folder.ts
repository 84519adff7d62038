import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { moveOver, readRegularFile, removeAny } from '../base/safe-file-operations.ts';
import type { Checkpoint } from '../engine/session-checkpoint.ts';
import {
  type AboutKv,
  type KvEntry,
  type KvRecord,
  blockRecord,
  checkpointRecord,
  entryOf,
  isInWork,
  isKey,
  isMarkInWork,
  isPayload,
  isRecord,
  isUnfinished,
  keyOf,
  markName,
  markedId,
  readRecord,
  recordName,
  unfinishedName,
} from './kv-record.ts';

/** An intact entry, with the bytes of a block or the record of a checkpoint. */
export interface FoundKv<Content> {
  readonly entry: KvEntry;
  readonly content: Content;
}

/** Why there is nothing to find: no entry, one of the other kind, or one that is not what was written. */
export type NotFound = 'missing' | 'other-kind' | 'damaged';

/** A checkpoint that no record names any more: first its bytes are deleted by the engine, then its mark. */
export interface OrphanedCheckpoint {
  readonly id: string;
  readonly mark: string;
}

/** An entry that was written, and the checkpoints that it replaced. */
export interface Written {
  readonly entry: KvEntry;
  readonly orphans: readonly OrphanedCheckpoint[];
}

type UnfinishedCheckpoint = ReturnType<UserFolder['beginCheckpoint']>;

/**
 * The KV of one user in one folder: a record for each entry, and beside it the bytes of a block or the mark of a
 * checkpoint. Fingerprints bind both to the folder, so that nothing damaged, of another user or of another key is used.
 * Anything with the name of such a file that is no regular file (a folder, a pipe, a link) is damage: never read, deleted.
 *
 * Any number of processes may work in it: an entry in its place is complete, and one that another process deletes or
 * replaces between two steps is missing, never half there. A checkpoint's mark is written before its bytes and deleted
 * after them, so that no bytes are left behind when a process is killed.
 */
export class UserFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  readBlock(key: string): FoundKv<Uint8Array<ArrayBuffer>> | NotFound {
    // Read twice, since another process may replace the block after the record was read.
    for (let attempt = 0; attempt < 2; attempt++) {
      const record = this.#record(key);
      if (typeof record === 'string') return record;
      if (record.kind !== 'block') return 'other-kind';
      const entry = entryOf(record);
      const bytes = readRegularFile(join(this.path, entry.payload));
      if (bytes === 'missing') continue;
      if (bytes === 'irregular') return 'damaged';
      const { fingerprint } = blockRecord(this.#name, key, record, bytes);
      return fingerprint === record.fingerprint ? { entry, content: bytes } : 'damaged';
    }
    return 'damaged';
  }

  /** Reads the record alone: the engine has the bytes. */
  readCheckpoint(key: string): FoundKv<Checkpoint> | NotFound {
    const record = this.#record(key);
    if (typeof record === 'string') return record;
    return record.kind === 'checkpoint' ? { entry: entryOf(record), content: record.checkpoint } : 'other-kind';
  }

  /** Writes a block. Nothing is left behind where that fails. */
  writeBlock(key: string, about: AboutKv, bytes: Uint8Array): Written {
    const id = randomUUID();
    const unfinished = this.#unfinishedRecord(key, id);
    const payload = join(this.path, unfinishedName(`${key}.block`, id));
    try {
      writeFileSync(payload, bytes, { mode: 0o600 });
      return this.#finish(unfinished, blockRecord(this.#name, key, about, bytes), payload);
    } catch (error) {
      removeAny(payload);
      removeAny(unfinished);
      throw error;
    }
  }

  /** Notes that a checkpoint is about to be made, under a random id. */
  beginCheckpoint(key: string) {
    const id = randomUUID();
    const record = this.#unfinishedRecord(key, id);
    const mark = join(this.path, markName(key, id));
    try {
      // The record first: it tells the mark of a running process from that of a killed one.
      [record, mark].forEach((file) => writeFileSync(file, '', { mode: 0o600 }));
      return { id, mark, record };
    } catch (error) {
      [record, mark].forEach((file) => removeAny(file));
      throw error;
    }
  }

  finishCheckpoint({ record }: UnfinishedCheckpoint, key: string, about: AboutKv, checkpoint: Checkpoint): Written {
    return this.#finish(record, checkpointRecord(this.#name, key, about, checkpoint));
  }

  /** Abandons a checkpoint that was begun; its mark stays until its bytes are deleted. */
  abandonCheckpoint({ record }: UnfinishedCheckpoint): void {
    removeAny(record);
  }

  /** Deletes an entry, even with a damaged record. @param payload deletes it only if this is still its payload */
  remove(key: string, payload?: string): OrphanedCheckpoint[] {
    const record = this.#record(key);
    const current = typeof record === 'string' ? undefined : entryOf(record).payload;
    if (payload !== undefined && current !== undefined && current !== payload) return [];
    removeAny(this.#recordPath(key));
    const files = this.#files();
    const payloads = files.filter((file) => keyOf(file) === key && isPayload(file) && !isMarkInWork(file, files));
    return this.#removePayloads([...new Set([...payloads, ...(current === undefined ? [] : [current])])]);
  }

  /**
   * The entries of all processes. Deletes what killed writers left unfinished.
   * @param known an entry that is known of a key: its record is not read again while its payload is the only one of that
   * key. Pass none where its memories matter: another process may have rewritten it.
   */
  entries(known: (key: string) => KvEntry | undefined = () => undefined): {
    readonly entries: readonly KvEntry[];
    readonly orphans: readonly OrphanedCheckpoint[];
  } {
    const files = this.#files();
    for (const file of files) if (isUnfinished(file) && !isInWork(file)) removeAny(join(this.path, file));
    const payloads = Map.groupBy(files.filter(isPayload), keyOf);
    const entries = files.filter(isRecord).flatMap((file) => {
      const key = keyOf(file);
      const before = known(key);
      const [payload, ...others] = payloads.get(key) ?? [];
      if (before !== undefined && others.length === 0 && payload === before.payload) return before;
      const record = this.#record(key);
      return typeof record === 'string' ? [] : entryOf(record);
    });
    const named = new Set(entries.map(({ payload }) => payload));
    const unnamed = new Set([...payloads.values()].flat().filter((file) => !named.has(file)));
    // Checked again: a process may have named one of them since.
    const left = unnamed.size === 0 ? [] : this.#withoutOwner((file) => unnamed.has(file));
    return { entries, orphans: this.#removePayloads(left) };
  }

  /** When the entry of a key was written, in ms since 1970; 0 where there is none. */
  writtenAtMs(key: string): number {
    return statSync(this.#recordPath(key), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }

  /** Modification time of the folder; 0 where there is none. */
  changedAtMs(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }

  get #name(): string {
    return basename(this.path);
  }

  #unfinishedRecord(key: string, id: string): string {
    const name = unfinishedName(basename(this.#recordPath(key)), id);
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    return join(this.path, name);
  }

  /** @param unfinishedPayload the bytes of a block, which take their place before the record does */
  #finish(unfinished: string, record: KvRecord, unfinishedPayload?: string): Written {
    const entry = entryOf(record);
    // The unfinished record first: it tells the payload of a running process from that of a killed one.
    writeFileSync(unfinished, JSON.stringify(record), { mode: 0o600 });
    if (unfinishedPayload !== undefined) moveOver(unfinishedPayload, join(this.path, entry.payload));
    moveOver(unfinished, this.#recordPath(record.key));
    // Another process may have deleted the block before its record was in place.
    if (unfinishedPayload !== undefined && !existsSync(join(this.path, entry.payload))) {
      removeAny(this.#recordPath(record.key));
    }
    return { entry, orphans: this.#removePayloads(this.#withoutOwner((file) => keyOf(file) === record.key)) };
  }

  /** Deletes blocks; marks of checkpoints stay until their bytes are deleted. */
  #removePayloads(files: readonly string[]): OrphanedCheckpoint[] {
    return files.flatMap((file) => {
      const [id, path] = [markedId(file), join(this.path, file)];
      if (id === undefined) removeAny(path);
      // Another process may have put a record in place that names it: an entry has both or none.
      const record = this.#record(keyOf(file));
      if (typeof record !== 'string' && entryOf(record).payload === file) removeAny(this.#recordPath(record.key));
      return id === undefined ? [] : { id, mark: path };
    });
  }

  /** The payloads that belong to no record and to no process at work. */
  #withoutOwner(matches: (file: string) => boolean): string[] {
    const files = this.#files();
    const keysInWork = new Set(files.filter(isInWork).map(keyOf));
    return files.filter((file) => {
      if (!isPayload(file) || !matches(file)) return false;
      const key = keyOf(file);
      const isOwned = markedId(file) === undefined ? keysInWork.has(key) : isMarkInWork(file, files);
      const record = this.#record(key);
      return !isOwned && (typeof record === 'string' || entryOf(record).payload !== file);
    });
  }

  /** The files whose names begin with a key. */
  #files(): string[] {
    try {
      return readdirSync(this.path).filter((file) => isKey(keyOf(file)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }

  #record(key: string): KvRecord | 'missing' | 'damaged' {
    const bytes = readRegularFile(this.#recordPath(key));
    if (typeof bytes === 'string') return bytes === 'missing' ? bytes : 'damaged';
    return readRecord(Buffer.from(bytes).toString('utf8'), key, this.#name) ?? 'damaged';
  }

  #recordPath(key: string): string {
    if (!isKey(key)) throw new RangeError(`${JSON.stringify(key)} is no key of KV: sha-256 in hex`);
    return join(this.path, recordName(key));
  }
}
