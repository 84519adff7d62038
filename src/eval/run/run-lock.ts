import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { isProcessRunning } from '../../base/is-process-running.ts';

/** Keeps a second process from the run that this one makes; a lock whose process is gone is no lock. */
export class RunLock implements Disposable {
  readonly #path: string;

  /** @param folder the folder of the run's report @throws BenchError `bad-option` if a living process has the run, of any user */
  constructor(folder: string, run: string) {
    this.#path = join(folder, 'lock');
    try {
      mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
      mkdirSync(folder, { recursive: true });
      if (this.#take()) return;
      this.#takeAway();
      if (this.#take()) return;
      const message = `process ${readHolder(this.#path) ?? 'of another user'} is making run "${run}"`;
      throw new BenchError('bad-option', message, 'wait for its end, or end it');
    } catch (cause) {
      if (cause instanceof BenchError) throw cause;
      throw new BenchError(
        'disk',
        `${folder}: the report cannot be written there`,
        'name another folder: --out DIR',
        cause,
      );
    }
  }

  [Symbol.dispose](): void {
    if (readHolder(this.#path) === process.pid) rmSync(this.#path, { force: true });
  }

  /** False where there is a lock: of two processes only one makes it. */
  #take(): boolean {
    try {
      writeFileSync(this.#path, String(process.pid), { flag: 'wx' });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  }

  /** Takes the lock of a process that is gone out of the way; one that a living process made meanwhile is put back. */
  #takeAway(): void {
    if (isHeld(this.#path)) return;
    const aside = `${this.#path}.${process.pid}`;
    renameSync(this.#path, aside);
    if (isHeld(aside)) renameSync(aside, this.#path);
    else rmSync(aside, { force: true });
  }
}

/** The process that a lock names; undefined for what no process wrote. */
function readHolder(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** A process that had the number of this one before is gone. */
function isHeld(path: string): boolean {
  const holder = readHolder(path);
  return holder !== undefined && holder !== process.pid && isProcessRunning(holder);
}
