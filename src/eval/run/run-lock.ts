import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { isProcessRunning } from '../../base/is-process-running.ts';
import { linkOrCopy } from '../../base/read-remove-rename-files.ts';

/** Prevents two processes from making the same run. The lock of a process that is gone does not count. */
export class RunLock implements Disposable {
  readonly #path: string;

  /** @param folder of the run's report @throws BenchError `bad-option` if another process makes the run; `disk` */
  constructor(folder: string, run: string) {
    this.#path = join(folder, 'lock');
    try {
      mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
      mkdirSync(folder, { recursive: true });
      while (!this.#take()) {
        requireUnlocked(folder, run);
        this.#removeStale();
      }
    } catch (cause) {
      if (cause instanceof BenchError) throw cause;
      const message = `${folder}: the report cannot be written there`;
      throw new BenchError('disk', message, 'name another folder: --out DIR', cause);
    }
  }

  [Symbol.dispose](): void {
    if (readHolder(this.#path) === process.pid) rmSync(this.#path, { force: true });
  }

  /** Creates the lock file with its holder in it; false if there is one. Of two processes, only one can create it. */
  #take(): boolean {
    const written = `${this.#path}.${process.pid}.new`;
    try {
      writeFileSync(written, String(process.pid));
      linkOrCopy(written, this.#path);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    } finally {
      rmSync(written, { force: true });
    }
  }

  /** Removes the lock of a process that is gone, but puts back one that a running process created meanwhile. */
  #removeStale(): void {
    const aside = `${this.#path}.${process.pid}`;
    try {
      renameSync(this.#path, aside);
    } catch (error) {
      // Another process has removed it meanwhile.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    if (isHeld(aside)) renameSync(aside, this.#path);
    else rmSync(aside, { force: true });
  }
}

/** @throws BenchError `bad-option` if another process makes the run */
export function requireUnlocked(folder: string, run: string): void {
  const path = join(folder, 'lock');
  if (!isHeld(path)) return;
  const message = `process ${readHolder(path)} is making run "${run}"`;
  throw new BenchError('bad-option', message, 'wait until it ends, or stop it');
}

/** The process id in a lock file; undefined if it holds none. */
function readHolder(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** A lock with this process's own id is not held: it was left by an earlier process with the same id. */
function isHeld(path: string): boolean {
  const holder = readHolder(path);
  return holder !== undefined && holder !== process.pid && isProcessRunning(holder);
}
