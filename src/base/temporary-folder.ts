import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchError } from './bench-error.ts';
import { diskAdvice } from './disk-advice.ts';
import { isProcessRunning } from './is-process-running.ts';

/** Processes of other machines, or containers, may share the folder: only those of this one can be asked for. */
const PREFIX = `dki-bench-kv-${hostname().replaceAll(/[^0-9A-Za-z]/g, '')}-`;
const NAME = new RegExp(`^${PREFIX}(\\d+)-`);

const open = new Set<string>();

/** A folder of this process alone (0700) for KV that must not outlive it; deleted at disposal, at the latest at exit. */
export class TemporaryFolder implements Disposable {
  readonly path: string;

  /** Deletes the folders that killed processes left, too. @throws BenchError `disk` */
  constructor() {
    try {
      deleteAbandoned();
      this.path = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
    } catch (cause) {
      const message = `${tmpdir()}: no folder for KV can be made there: ${(cause as Error).message}`;
      throw new BenchError('disk', message, `${diskAdvice(cause)}, or name another folder: TMPDIR`, cause);
    }
    if (open.size === 0) process.on('exit', deleteAll);
    open.add(this.path);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
    open.delete(this.path);
    if (open.size === 0) process.off('exit', deleteAll);
  }
}

function deleteAll(): void {
  for (const path of open) rmSync(path, { recursive: true, force: true });
}

function deleteAbandoned(): void {
  for (const name of readdirSync(tmpdir())) {
    const processId = NAME.exec(name)?.[1];
    if (processId === undefined || isProcessRunning(Number(processId))) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // Another user's.
    }
  }
}
