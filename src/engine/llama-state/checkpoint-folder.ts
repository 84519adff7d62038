import { hash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { diskAdvice } from '../../base/disk-advice.ts';
import { isRunning } from '../../base/is-running.ts';
import { moveOver, readRegularFile, removeAny } from '../../base/regular-file.ts';
import { type Checkpoint, checkpointSchema } from '../session-checkpoint.ts';
import { type ParsedState, writeAll } from './state-file.ts';

const UNFINISHED = /\.(\d+)\.partial$/;

/** State files by the id of their checkpoint. What has its name is complete; files are private (0600). */
export class CheckpointFolder {
  readonly #path: string;

  /** Deletes what killed processes left unfinished; the folder is made (0700) when the first state is kept. @throws BenchError `disk` */
  constructor(path: string) {
    this.#path = path;
    if (!existsSync(path)) return;
    try {
      for (const name of readdirSync(path)) {
        const writer = UNFINISHED.exec(name)?.[1];
        if (writer !== undefined && !isRunning(Number(writer))) removeAny(join(path, name));
      }
    } catch (cause) {
      throw cannotKeep(path, cause);
    }
  }

  /** Stores what `save` writes to a path; nothing is left behind where that fails. @throws BenchError `disk` */
  async write(id: string, save: (path: string) => Promise<number>) {
    const path = this.#pathOf(id);
    const unfinished = `${path}.${process.pid}.partial`;
    try {
      mkdirSync(this.#path, { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw cannotKeep(this.#path, cause);
    }
    try {
      const bytes = await save(unfinished);
      chmodSync(unfinished, 0o600);
      const content = readFileSync(unfinished);
      const sha256 = hash('sha256', content);
      moveOver(unfinished, path);
      return { bytes, sha256, content };
    } catch (cause) {
      removeAny(unfinished);
      if (cause instanceof BenchError) throw cause;
      const hint = `${diskAdvice(cause, this.#path)}, or name another folder`;
      throw new BenchError('disk', `${path}: the KV state could not be written`, hint, cause);
    }
  }

  /**
   * @returns verified bytes, and `identity` from before they were read
   * @throws BenchError `bad-state` where there is no such file, or its bytes are not those that were written; `disk`
   */
  read({ id, bytes, sha256 }: Checkpoint) {
    const path = this.#pathOf(id);
    const identity = this.identity(id);
    let found: ReturnType<typeof readRegularFile>;
    try {
      found = readRegularFile(path);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      const hint = 'name a folder that can be read: --kv-store DIR';
      throw new BenchError('disk', `${path}: a KV state cannot be read: ${code}`, hint, cause);
    }
    if (found === 'missing') throw new BenchError('bad-state', `${path}: no such KV state`, 'compute it again');
    if (found === 'irregular') throw new BenchError('bad-state', `${path}: is no regular file`, 'compute it again');
    if (found.length === bytes && hash('sha256', found) === sha256) return { path, bytes: found, identity };
    const message = `${path}: its bytes are not those that were saved`;
    throw new BenchError('bad-state', message, 'delete it; it will be computed again');
  }

  /** Changes when the file is replaced or written to; undefined where there is no regular file that can be looked at. */
  identity(id: string): string | undefined {
    try {
      const found = lstatSync(this.#pathOf(id), { bigint: true });
      const { dev, ino, size, mtimeNs, ctimeNs } = found;
      return found.isFile() ? [dev, ino, size, mtimeNs, ctimeNs].join(' ') : undefined;
    } catch {
      return undefined;
    }
  }

  remove(id: string): void {
    removeAny(this.#pathOf(id));
  }

  #pathOf(id: string): string {
    if (!checkpointSchema.unwrap().shape.id.safeParse(id).success) {
      throw new RangeError(`${JSON.stringify(id)} is no name of a checkpoint: at most 100 letters, digits and hyphens`);
    }
    return join(this.#path, `${id}.state`);
  }
}

function cannotKeep(path: string, cause: unknown): BenchError {
  const { code } = cause as NodeJS.ErrnoException;
  const message = `${path}: cannot keep KV states there: ${code}`;
  return new BenchError('disk', message, 'name a folder that can be written: --kv-store DIR', cause);
}

/** All that was read of a state but its keys and values. */
export type StateHead = Pick<ParsedState, 'tokens' | 'positions' | 'tensors'>;

interface Kept {
  readonly file: MemoryFile;
  readonly head: StateHead;
  readonly sha256: string | null;
  readonly fileIdentity: string;
}

/**
 * Private copies of checkpoints in memory, made of verified bytes, which are loaded without being read, hashed and checked
 * again. A file that is gone or was touched since is read from disk. Bounded by bytes: the longest unused go first.
 */
export class VerifiedStates implements Disposable {
  readonly #maxBytes: number;
  /** By id, in the order of use: the last was used last. */
  readonly #kept = new Map<string, Kept>();
  #sizeBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Stores a copy of verified bytes, if there is space. @param fileIdentity of the file on disk, when it was read */
  keep({ id, sha256 }: Checkpoint, fileIdentity: string, content: Uint8Array, head: StateHead): void {
    this.forget(id);
    const sizeBytes = content.length;
    if (sizeBytes > this.#maxBytes) return;
    for (const oldest of this.#kept.keys()) {
      if (this.#sizeBytes + sizeBytes <= this.#maxBytes) break;
      this.forget(oldest);
    }
    const file = MemoryFile.create();
    if (file?.write([content]) !== true) return file?.[Symbol.dispose]();
    // Of what was parsed, nothing that keeps all of its bytes alive.
    const { tokens, positions, tensors } = head;
    this.#kept.set(id, { file, head: { tokens, positions, tensors }, sha256, fileIdentity });
    this.#sizeBytes += sizeBytes;
  }

  /** The copy of a checkpoint, until it is disposed of. @param fileIdentity of the file on disk now: another drops the copy */
  find(
    { id, sha256, bytes }: Checkpoint,
    fileIdentity: string | undefined,
  ): (Disposable & { readonly head: StateHead; readonly path: string }) | undefined {
    const kept = this.#kept.get(id);
    if (kept === undefined) return undefined;
    if (kept.sha256 !== sha256 || kept.file.sizeBytes !== bytes || kept.fileIdentity !== fileIdentity) {
      this.forget(id);
      return undefined;
    }
    this.#kept.delete(id);
    this.#kept.set(id, kept);
    return { head: kept.head, ...kept.file.open() };
  }

  forget(id: string): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    this.#kept.delete(id);
    this.#sizeBytes -= kept.file.sizeBytes;
    kept.file[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    for (const id of [...this.#kept.keys()]) this.forget(id);
  }
}

/** The folder of Linux whose files lie in memory. */
const MEMORY_FOLDER = '/dev/shm';
/** The folder of Linux that names the open files of a process, those without a name of their own among them. */
const OPEN_FILES = '/proc/self/fd';

/**
 * A file in memory without a name: it reaches no disk, this process alone finds it, and it is gone when the process is, however
 * that ends.
 */
export class MemoryFile implements Disposable {
  readonly #file: number;
  #sizeBytes = 0;
  /** Its owner, and those who are reading it. */
  #holders = 1;

  private constructor(file: number) {
    this.#file = file;
  }

  /** An empty one; undefined where the system has no such files. */
  static create(): MemoryFile | undefined {
    const path = join(MEMORY_FOLDER, `dki-bench-${randomUUID()}`);
    let file: number;
    try {
      file = openSync(path, 'wx', 0o600);
    } catch {
      return undefined;
    }
    rmSync(path);
    if (existsSync(join(OPEN_FILES, String(file)))) return new MemoryFile(file);
    closeSync(file);
    return undefined;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Replaces its content, in the memory that it has; nobody may be reading it. @returns false where there is no space */
  write(parts: readonly Uint8Array[]): boolean {
    const sizeBytes = parts.reduce((sum, { length }) => sum + length, 0);
    try {
      writeAll(this.#file, parts);
      ftruncateSync(this.#file, sizeBytes);
    } catch {
      return false;
    }
    this.#sizeBytes = sizeBytes;
    return true;
  }

  /** Names the file within this process until what it gives is disposed of, whatever becomes of the owner's claim meanwhile. */
  open(): Disposable & { readonly path: string } {
    this.#holders++;
    return { path: join(OPEN_FILES, String(this.#file)), [Symbol.dispose]: () => this[Symbol.dispose]() };
  }

  [Symbol.dispose](): void {
    if (--this.#holders === 0) closeSync(this.#file);
  }
}
