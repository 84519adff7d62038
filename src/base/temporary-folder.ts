import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchError } from './bench-error.ts';
import { diskErrorHint } from './disk-error-hint.ts';
import { hostInFileName, isProcessRunning } from './is-process-running.ts';

const PREFIX = `dki-bench-kv-${hostInFileName}-`;
const NAME = new RegExp(`^${PREFIX}(\\d+)-`);

const open = new Set<string>();

/** A temporary folder, private to its user (0700), for KV that must not outlive the process. Deleted at disposal or exit. */
export class TemporaryFolder implements Disposable {
  readonly path: string;

  /** Also deletes folders left by killed processes. @throws BenchError `disk` */
  constructor() {
    try {
      deleteAbandoned();
      this.path = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
    } catch (cause) {
      const message = `${tmpdir()}: cannot make a temporary folder for KV: ${(cause as Error).message}`;
      throw new BenchError('disk', message, `${diskErrorHint(cause)}, or set TMPDIR to another folder`, cause);
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
      // It belongs to another user.
    }
  }
}
