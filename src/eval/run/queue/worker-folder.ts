import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { BenchError } from '../../../base/bench-error.ts';
import { RunLock } from '../run-lock.ts';

/** More workers on one machine are not expected. */
const SLOTS = 1000;

/**
 * A folder that no other worker of the machine uses: the first that nobody has, so that what killed workers left is deleted
 * by those after them. Machines that share the folder above it have their own by their names.
 * @param folder of the run's report
 * @throws BenchError `disk` where nothing can be written there
 */
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
