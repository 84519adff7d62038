// By namespace: Node 18 must load this file, so that a user is told which Node is needed.
import * as crypto from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { diskErrorHint } from '../../base/disk-error-hint.ts';
import { isBeingWritten, writerInFileName } from '../../base/is-process-running.ts';
import { moveOver, readLargeFile, readRegularFile, removeAny } from '../../base/read-remove-rename-files.ts';
import { type Checkpoint, checkpointSchema, type ReadTimes } from '../engine-session.ts';
import { type ParsedState, writeAll } from './state-file.ts';

const UNFINISHED = /\.([0-9A-Za-z]*-\d+)\.partial$/;

/** Folder with one KV file per checkpoint, named by its id. Only complete files get that name; files are private (0600). */
export class CheckpointFolder {
  readonly #path: string;

  /** Deletes unfinished files of killed processes. The folder is created (0700) with the first file. @throws BenchError `disk` */
  constructor(path: string) {
    this.#path = path;
    if (!existsSync(path)) return;
    try {
      for (const name of readdirSync(path)) {
        const writer = UNFINISHED.exec(name)?.[1];
        if (writer !== undefined && !isBeingWritten(join(path, name), writer)) removeAny(join(path, name));
      }
    } catch (cause) {
      throw cannotStore(path, cause);
    }
  }

  /** Stores the file that `save` writes to the given path; leaves nothing behind if that fails. @throws BenchError `disk` */
  async write(id: string, save: (path: string) => Promise<number>) {
    const path = this.#filePath(id);
    const unfinished = `${path}.${writerInFileName}.partial`;
    try {
      mkdirSync(this.#path, { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw cannotStore(this.#path, cause);
    }
    try {
      const bytes = await save(unfinished);
      chmodSync(unfinished, 0o600);
      const content = readLargeFile(unfinished);
      const sha256 = crypto.hash('sha256', content);
      moveOver(unfinished, path);
      return { bytes, sha256, content };
    } catch (cause) {
      removeAny(unfinished);
      if (cause instanceof BenchError) throw cause;
      const hint = `${diskErrorHint(cause, this.#path)}, or name another folder`;
      throw new BenchError('disk', `${path}: the KV state could not be written`, hint, cause);
    }
  }

  /**
   * @param spent times to add to
   * @returns verified bytes, and the file's `identity` before reading
   * @throws BenchError `bad-state` if the file is missing or its bytes have changed since writing; `disk`
   */
  read({ id, bytes, sha256 }: Checkpoint, spent: ReadTimes = { read: 0, verify: 0 }) {
    const start = performance.now();
    const path = this.#filePath(id);
    const identity = this.identity(id);
    let found: ReturnType<typeof readRegularFile>;
    try {
      found = readRegularFile(path);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      const hint = 'name a readable folder: --kv-store DIR';
      throw new BenchError('disk', `${path}: a KV state cannot be read: ${code}`, hint, cause);
    }
    if (found === 'missing') throw new BenchError('bad-state', `${path}: no such KV state`, 'compute it again');
    if (found === 'irregular') throw new BenchError('bad-state', `${path}: not a regular file`, 'compute it again');
    const read = performance.now();
    const isSame = found.length === bytes && crypto.hash('sha256', found) === sha256;
    spent.read += read - start;
    spent.verify += performance.now() - read;
    if (isSame) return { path, bytes: found, identity };
    const message = `${path}: its bytes have changed since it was saved`;
    throw new BenchError('bad-state', message, 'delete it; it will be computed again');
  }

  /** Changes whenever the file is replaced or written to; undefined if there is no accessible regular file. */
  identity(id: string): string | undefined {
    try {
      const found = lstatSync(this.#filePath(id), { bigint: true });
      const { dev, ino, size, mtimeNs, ctimeNs } = found;
      return found.isFile() ? [dev, ino, size, mtimeNs, ctimeNs].join(' ') : undefined;
    } catch {
      return undefined;
    }
  }

  remove(id: string): void {
    removeAny(this.#filePath(id));
  }

  #filePath(id: string): string {
    if (!checkpointSchema.unwrap().shape.id.safeParse(id).success) {
      throw new RangeError(`${JSON.stringify(id)} is not a checkpoint id: use at most 100 letters, digits, hyphens`);
    }
    return join(this.#path, `${id}.state`);
  }
}

function cannotStore(path: string, cause: unknown): BenchError {
  const { code } = cause as NodeJS.ErrnoException;
  const message = `${path}: cannot keep KV states there: ${code}`;
  return new BenchError('disk', message, 'name a writable folder: --kv-store DIR', cause);
}

/** Contents of a KV file except its keys and values. */
export interface StateHeader extends Pick<ParsedState, 'tokens' | 'positions'> {
  /** Null for a file of unknown cells. */
  readonly tensors: ParsedState['tensors'] | null;
}

interface StoredCopy {
  readonly file: MemoryFile;
  readonly header: StateHeader;
  readonly sha256: string | null;
  readonly fileIdentity: string;
}

/**
 * Private in-memory copies of verified checkpoint files, to restore without reading, hashing and checking them again. A copy is
 * dropped if its file on disk is gone or was touched since. Limited in bytes; evicts the least recently used.
 */
export class CheckpointMemory implements Disposable {
  readonly #maxBytes: number;
  /** By checkpoint id, least recently used first. */
  readonly #copy = new Map<string, StoredCopy>();
  #sizeBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Stores a copy of verified bytes, if there is space. @param fileIdentity identity of the file before it was read */
  store({ id, sha256 }: Checkpoint, fileIdentity: string, content: Uint8Array, header: StateHeader): void {
    this.delete(id);
    const sizeBytes = content.length;
    if (sizeBytes > this.#maxBytes) return;
    for (const oldest of this.#copy.keys()) {
      if (this.#sizeBytes + sizeBytes <= this.#maxBytes) break;
      this.delete(oldest);
    }
    const file = createMemoryFile();
    if (file?.write([content]) !== true) return file?.[Symbol.dispose]();
    // Copies fields, since the argument may also hold views that keep the whole file in memory.
    const { tokens, positions, tensors } = header;
    this.#copy.set(id, { file, header: { tokens, positions, tensors }, sha256, fileIdentity });
    this.#sizeBytes += sizeBytes;
  }

  /** Returns a copy, readable until disposed. @param fileIdentity current identity of the file; the copy is dropped if it differs */
  find({ id, sha256, bytes }: Checkpoint, fileIdentity: string | undefined) {
    const copy = this.#copy.get(id);
    if (copy === undefined) return undefined;
    if (copy.sha256 !== sha256 || copy.file.sizeBytes !== bytes || copy.fileIdentity !== fileIdentity) {
      this.delete(id);
      return undefined;
    }
    this.#copy.delete(id);
    this.#copy.set(id, copy);
    return { header: copy.header, ...copy.file.open() };
  }

  delete(id: string): void {
    const copy = this.#copy.get(id);
    if (copy === undefined) return;
    this.#copy.delete(id);
    this.#sizeBytes -= copy.file.sizeBytes;
    copy.file[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    for (const id of [...this.#copy.keys()]) this.delete(id);
  }
}

/** Linux folder with files in memory. */
const MEMORY_FOLDER = '/dev/shm';
/** Linux folder with this process's open files, including deleted ones. */
const OPEN_FILES = '/proc/self/fd';

export type MemoryFile = NonNullable<ReturnType<typeof createMemoryFile>>;

/**
 * Creates an empty file in memory, deleted but open: it is never on disk, only this process can access it, and it vanishes with the
 * process, even if that is killed. Undefined if the system has no files in memory.
 */
export function createMemoryFile() {
  const path = join(MEMORY_FOLDER, `dki-bench-${crypto.randomUUID()}`);
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch {
    return undefined;
  }
  rmSync(path);
  const openPath = join(OPEN_FILES, String(file));
  if (!existsSync(openPath)) {
    closeSync(file);
    return undefined;
  }
  let sizeBytes = 0;
  /** Number of users: the owner, and each open reader. */
  let holders = 1;
  const release = (): void => {
    if (--holders === 0) closeSync(file);
  };
  return {
    get sizeBytes(): number {
      return sizeBytes;
    },
    /** Replaces the content; there must be no open reader. @returns false if there is no space */
    write(parts: readonly Uint8Array[]): boolean {
      const bytes = parts.reduce((sum, { length }) => sum + length, 0);
      try {
        writeAll(file, parts);
        ftruncateSync(file, bytes);
      } catch {
        return false;
      }
      sizeBytes = bytes;
      return true;
    },
    /** Opens the file for reading. The path is valid in this process until disposed, even if the owner disposes of the file before. */
    open(): Disposable & { readonly path: string } {
      holders++;
      return { path: openPath, [Symbol.dispose]: release };
    },
    [Symbol.dispose]: release,
  };
}
