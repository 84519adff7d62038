import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, ftruncateSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAll } from './state-file.ts';

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
