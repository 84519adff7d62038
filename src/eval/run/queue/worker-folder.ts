import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { BenchError } from '../../../base/bench-error.ts';
import { RunLock } from '../run-lock.ts';

/** Largest number of workers on one machine. */
const SLOTS = 1000;

/** Locks the machine's first free worker folder; disposal deletes it. @throws BenchError `disk` */
export function workerFolder(folder: string, run: string): Disposable & { readonly path: string } {
  const machine = hostname().replaceAll(/[^\w-]/g, '_');
  for (let slot = 1; ; slot++) {
    const path = join(folder, 'queue', `${machine}-${slot}`);
    try {
      const lock = new RunLock(path, run);
      const dispose = (): void => {
        lock[Symbol.dispose]();
        rmSync(path, { recursive: true, force: true });
      };
      return { path, [Symbol.dispose]: dispose };
    } catch (error) {
      if (!(error instanceof BenchError) || error.code !== 'bad-option' || slot === SLOTS) throw error;
    }
  }
}
