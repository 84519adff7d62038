import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { isBeingWritten, writerInFileName } from '../base/is-process-running.ts';
import { moveOver, readRegularFile, removeAny } from '../base/read-remove-rename-files.ts';
import { type Checkpoint, checkpointSchema, type ReadTimes } from '../engine/engine-session.ts';
import type { AboutKv } from './kv-key.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const common = {
  key: sha256,
  fingerprint: sha256,
  tokens: z.number().int().positive(),
  memoryIds: z.array(z.string()).readonly(),
};
const recordSchema = z.discriminatedUnion('kind', [
  z.object({ ...common, kind: z.literal('block'), sizeBytes: z.number().int().nonnegative() }),
  z.object({ ...common, kind: z.literal('checkpoint'), checkpoint: checkpointSchema }),
]);

/** The record of stored KV: a block, with its bytes in a file beside it, or a checkpoint, with its bytes in the engine. */
type KvRecord = Readonly<z.output<typeof recordSchema>>;

/** An entry of a folder, without its bytes. */
export type KvEntry = ReturnType<typeof kvEntry>;

/** Parses the record of a key in a folder; undefined if it is damaged. */
function readRecord(text: string, key: string, folder: string): KvRecord | undefined {
  try {
    const record = recordSchema.parse(JSON.parse(text));
    const isIntact =
      record.kind === 'block' ||
      checkpointRecord(folder, key, record, record.checkpoint).fingerprint === record.fingerprint;
    return isIntact && record.key === key ? record : undefined;
  } catch {
    return undefined;
  }
}

/** The record of a block. Its fingerprint covers bytes, folder, key and record. */
function blockRecord(folder: string, key: string, about: AboutKv, bytes: Uint8Array): KvRecord {
  return { kind: 'block', sizeBytes: bytes.length, ...signed(folder, key, about, bytes) };
}

/** The record of a checkpoint. Its fingerprint covers folder, key and record; the engine verifies the bytes. */
function checkpointRecord(folder: string, key: string, about: AboutKv, checkpoint: Checkpoint): KvRecord {
  const { id, tokens, bytes, sha256, stateIdentity } = checkpoint;
  const text = JSON.stringify([id, tokens, bytes, sha256, stateIdentity]);
  return { kind: 'checkpoint', checkpoint, ...signed(folder, key, about, Buffer.from(text)) };
}

function kvEntry(record: KvRecord) {
  const { key, fingerprint, tokens, memoryIds } = record;
  // The file beside the record: the bytes of a block, or the empty mark of a checkpoint.
  const payload = record.kind === 'block' ? blockName(key, fingerprint) : markName(key, record.checkpoint.id);
  const sizeBytes = record.kind === 'block' ? record.sizeBytes : record.checkpoint.bytes;
  return { key, payload, sizeBytes, tokens, memoryIds };
}

function signed(folder: string, key: string, { tokens, memoryIds }: AboutKv, content: Uint8Array) {
  const about = JSON.stringify([folder, key, tokens, memoryIds]);
  const fingerprint = createHash('sha256').update(`${about}\n`).update(content).digest('hex');
  return { key, fingerprint, tokens, memoryIds };
}

/** An undamaged entry, with the bytes of a block or the description of a checkpoint. */
export interface FoundKv<Content> {
  readonly entry: KvEntry;
  readonly content: Content;
}

/** Why nothing was found: no entry, an entry of the other kind, or a damaged one. */
export type NotFound = 'missing' | 'other-kind' | 'damaged';

/** A checkpoint that no record refers to any more. First the engine deletes its bytes, then its mark is deleted. */
export interface OrphanedCheckpoint {
  readonly id: string;
  readonly mark: string;
}

/** A written entry, and the checkpoints that it replaced. */
export interface Written {
  readonly entry: KvEntry;
  readonly orphans: readonly OrphanedCheckpoint[];
}

/** Times of finding a record, reading the bytes, and verifying them, in ms. */
export interface FindTimes extends ReadTimes {
  find: number;
}

type UnfinishedCheckpoint = ReturnType<UserFolder['beginCheckpoint']>;

/**
 * One user's KV in one folder: a record for each entry, and beside it the bytes of a block or the mark of a checkpoint.
 * Fingerprints cover both and the folder, so KV that is damaged or belongs to another user or key is never used. Folders,
 * pipes and links with such a file name count as damage: they are never read, and deleted.
 *
 * Any number of processes may use the folder. An entry is always complete; if another process deletes or replaces it between
 * two steps, it counts as missing. A checkpoint's mark is written before its bytes and deleted after them, so that no bytes
 * are left behind when a process is killed.
 */
export class UserFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** @param spent times to add to */
  readBlock(
    key: string,
    spent: FindTimes = { find: 0, read: 0, verify: 0 },
  ): FoundKv<Uint8Array<ArrayBuffer>> | NotFound {
    // Tries twice, since another process may replace the block after the record was read.
    for (let attempt = 0; attempt < 2; attempt++) {
      const start = performance.now();
      const record = this.#record(key);
      if (typeof record === 'string') return record;
      if (record.kind !== 'block') return 'other-kind';
      const entry = kvEntry(record);
      const found = performance.now();
      const bytes = readRegularFile(join(this.path, entry.payload));
      if (bytes === 'missing') continue;
      if (bytes === 'irregular') return 'damaged';
      const read = performance.now();
      const { fingerprint } = blockRecord(this.#name, key, record, bytes);
      spent.find += found - start;
      spent.read += read - found;
      spent.verify += performance.now() - read;
      return fingerprint === record.fingerprint ? { entry, content: bytes } : 'damaged';
    }
    return 'damaged';
  }

  /** Reads only the record: the engine has the bytes. */
  readCheckpoint(key: string): FoundKv<Checkpoint> | NotFound {
    const record = this.#record(key);
    if (typeof record === 'string') return record;
    return record.kind === 'checkpoint' ? { entry: kvEntry(record), content: record.checkpoint } : 'other-kind';
  }

  /** Writes a block. Leaves nothing behind if that fails. */
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

  /** Notes on disk that a checkpoint is being made, under a random id. */
  beginCheckpoint(key: string) {
    const id = randomUUID();
    const record = this.#unfinishedRecord(key, id);
    const mark = join(this.path, markName(key, id));
    try {
      // The record first: it shows that the process of the mark is running.
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

  /** Deletes an entry, even a damaged one. @param payload if given, deletes the entry only if this is still its payload */
  remove(key: string, payload?: string): OrphanedCheckpoint[] {
    const record = this.#record(key);
    const current = typeof record === 'string' ? undefined : kvEntry(record).payload;
    if (payload !== undefined && current !== undefined && current !== payload) return [];
    removeAny(this.#recordPath(key));
    const files = this.#files();
    const inWork = this.#inWork(files);
    const payloads = files.filter(
      (file) => keyInFileName(file) === key && isPayload(file) && !isMarkInWork(file, inWork),
    );
    return this.#removePayloads([...new Set([...payloads, ...(current === undefined ? [] : [current])])]);
  }

  /**
   * The entries written by all processes. Deletes unfinished files of killed processes.
   * @param known the known entry of a key: its record is not read again while its payload is the only one of that key. Omit
   * it if memory ids matter, since another process may have rewritten the record.
   */
  entries(known: (key: string) => KvEntry | undefined = () => undefined): {
    readonly entries: readonly KvEntry[];
    readonly orphans: readonly OrphanedCheckpoint[];
  } {
    const files = this.#files();
    const inWork = this.#inWork(files);
    for (const file of files) if (isUnfinished(file) && !inWork.includes(file)) removeAny(join(this.path, file));
    const payloads = Map.groupBy(files.filter(isPayload), keyInFileName);
    const entries = files.filter(isRecord).flatMap((file) => {
      const key = keyInFileName(file);
      const before = known(key);
      const [payload, ...others] = payloads.get(key) ?? [];
      if (before !== undefined && others.length === 0 && payload === before.payload) return before;
      const record = this.#record(key);
      return typeof record === 'string' ? [] : kvEntry(record);
    });
    const named = new Set(entries.map(({ payload }) => payload));
    const unnamed = new Set([...payloads.values()].flat().filter((file) => !named.has(file)));
    // Check again: a process may have written a record for one of them by now.
    const left = unnamed.size === 0 ? [] : this.#withoutOwner((file) => unnamed.has(file));
    return { entries, orphans: this.#removePayloads(left) };
  }

  /** When the entry of a key was written, in ms since 1970; 0 if there is none. */
  writtenAtMs(key: string): number {
    return statSync(this.#recordPath(key), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }

  /** Modification time of the folder in ms since 1970; 0 if there is none. */
  changedAtMs(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }

  get #name(): string {
    return basename(this.path);
  }

  #unfinishedRecord(key: string, id: string): string {
    const record = unfinishedName(this.#recordPath(key), id);
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    return record;
  }

  /** Moves a record into place. @param unfinishedPayload file with a block's bytes, moved into place before the record */
  #finish(unfinished: string, record: KvRecord, unfinishedPayload?: string): Written {
    const entry = kvEntry(record);
    // The unfinished record first: it shows that the process of the payload is running.
    writeFileSync(unfinished, JSON.stringify(record), { mode: 0o600 });
    if (unfinishedPayload !== undefined) moveOver(unfinishedPayload, join(this.path, entry.payload));
    moveOver(unfinished, this.#recordPath(record.key));
    // Another process may have deleted the block before its record was in place.
    if (unfinishedPayload !== undefined && !existsSync(join(this.path, entry.payload))) {
      removeAny(this.#recordPath(record.key));
    }
    return { entry, orphans: this.#removePayloads(this.#withoutOwner((file) => keyInFileName(file) === record.key)) };
  }

  /** Deletes blocks; marks of checkpoints stay until their bytes are deleted. */
  #removePayloads(files: readonly string[]): OrphanedCheckpoint[] {
    return files.flatMap((file) => {
      const [id, path] = [markedId(file), join(this.path, file)];
      if (id === undefined) removeAny(path);
      // Another process may have written a record for this payload: then delete that record too.
      const record = this.#record(keyInFileName(file));
      if (typeof record !== 'string' && kvEntry(record).payload === file) removeAny(this.#recordPath(record.key));
      return id === undefined ? [] : { id, mark: path };
    });
  }

  /** The payloads that belong to no record and to no running process. */
  #withoutOwner(matches: (file: string) => boolean): string[] {
    const files = this.#files();
    const inWork = this.#inWork(files);
    const keysInWork = new Set(inWork.map(keyInFileName));
    return files.filter((file) => {
      if (!isPayload(file) || !matches(file)) return false;
      const key = keyInFileName(file);
      const isOwned = markedId(file) === undefined ? keysInWork.has(key) : isMarkInWork(file, inWork);
      const record = this.#record(key);
      return !isOwned && (typeof record === 'string' || kvEntry(record).payload !== file);
    });
  }

  #inWork(files: readonly string[]): string[] {
    return files.filter((file) => isInWork(join(this.path, file)));
  }

  /** Files with names that begin with a key. */
  #files(): string[] {
    try {
      return readdirSync(this.path).filter((file) => isKey(keyInFileName(file)));
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
    if (!isKey(key)) throw new RangeError(`${JSON.stringify(key)} is not a KV key (a SHA-256 in hex)`);
    return join(this.path, recordName(key));
  }
}

/**
 * File names in a folder of KV. Each begins with a key:
 *
 * - `<key>.json`: the record of an entry
 * - `<key>.<fingerprint>.block`, `<key>.<id>.checkpoint`: its payload, the bytes of a block or the mark of a checkpoint
 * - `<record or payload>.<id>.<host>-<process id>.new`: unfinished, written by that process
 */

const KEY = /^[0-9a-f]{64}$/;
const UNFINISHED = /\.([^.]+)\.([0-9A-Za-z]*-\d+)\.new$/;
const FINGERPRINT_DIGITS = 16;

const isKey = (text: string): boolean => KEY.test(text);

/** The text before the first dot. */
const keyInFileName = (file: string): string => file.slice(0, file.indexOf('.'));

const recordName = (key: string): string => `${key}.json`;
const isRecord = (file: string): boolean => file.endsWith('.json');

const blockName = (key: string, fingerprint: string): string =>
  `${key}.${fingerprint.slice(0, FINGERPRINT_DIGITS)}.block`;

/** An empty file which says that the engine has a checkpoint with this id. */
const markName = (key: string, id: string): string => `${key}.${id}.checkpoint`;

/** The checkpoint id in the name of a mark; undefined for other names. */
const markedId = (file: string): string | undefined => /^[^.]+\.([0-9a-zA-Z-]{1,100})\.checkpoint$/.exec(file)?.[1];

const isPayload = (file: string): boolean => !isRecord(file) && !isUnfinished(file);

/** The name of a file while this process writes it. */
const unfinishedName = (file: string, id: string): string => `${file}.${id}.${writerInFileName}.new`;
const isUnfinished = (file: string): boolean => UNFINISHED.test(file);

/** True for an unfinished file whose process is still running. */
function isInWork(path: string): boolean {
  const writer = UNFINISHED.exec(path)?.[2];
  return writer !== undefined && isBeingWritten(path, writer);
}

/** True for the mark of a checkpoint that a running process is making. @param inWork the files {@link isInWork} */
function isMarkInWork(mark: string, inWork: readonly string[]): boolean {
  const id = markedId(mark);
  return id !== undefined && inWork.some((file) => UNFINISHED.exec(file)?.[1] === id);
}
