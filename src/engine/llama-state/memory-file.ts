import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, ftruncateSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAll } from './state-file.ts';

/** Linux folder with files in memory. */
const MEMORY_FOLDER = '/dev/shm';
/** Linux folder with this process's open files, including deleted ones. */
const OPEN_FILES = '/proc/self/fd';

/**
 * A file in memory, deleted but open: it is never on disk, only this process can access it, and it vanishes with the process, even
 * if that is killed.
 */
export class MemoryFile implements Disposable {
  readonly #file: number;
  #sizeBytes = 0;
  /** Number of users: the owner, and each open reader. */
  #holders = 1;

  private constructor(file: number) {
    this.#file = file;
  }

  /** Creates an empty file; undefined if the system has no files in memory. */
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

  /** Replaces the content; there must be no open reader. @returns false if there is no space */
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

  /** Opens the file for reading. The path is valid in this process until disposed, even if the owner disposes of the file before. */
  open(): Disposable & { readonly path: string } {
    this.#holders++;
    return { path: join(OPEN_FILES, String(this.#file)), [Symbol.dispose]: () => this[Symbol.dispose]() };
  }

  [Symbol.dispose](): void {
    if (--this.#holders === 0) closeSync(this.#file);
  }
}
