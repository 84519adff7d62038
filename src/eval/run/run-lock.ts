import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from '../../config/bench-error.ts';
import { isRunning } from '../../config/is-running.ts';

/** Keeps a second process from the run that this one makes; a lock whose process is gone is no lock. */
export class RunLock implements Disposable {
  readonly #path: string;

  /** @param folder the folder of the run's report @throws BenchError `bad-option` where a living process has the run */
  constructor(folder: string, run: string) {
    this.#path = join(folder, 'lock');
    try {
      mkdirSync(folder, { recursive: true });
      const holder = this.#holder();
      if (holder !== undefined) {
        throw new BenchError('bad-option', `process ${holder} is making run "${run}"`, 'wait for its end, or end it');
      }
      writeFileSync(this.#path, String(process.pid));
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

  #holder(): number | undefined {
    try {
      const pid = Number(readFileSync(this.#path, 'utf8'));
      if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return undefined;
      return isRunning(pid) ? pid : undefined;
    } catch {
      return undefined;
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.#path, { force: true });
  }
}
