import { hash } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { diskAdvice } from '../../base/disk-advice.ts';
import { isProcessRunning } from '../../base/is-process-running.ts';
import { moveOver, readRegularFile, removeAny } from '../../base/safe-file-operations.ts';
import { type Checkpoint, checkpointSchema } from '../session-checkpoint.ts';

const UNFINISHED = /\.(\d+)\.partial$/;

/** Folder with one KV file per checkpoint, named by its id. Only complete files get that name; files are private (0600). */
export class CheckpointFolder {
  readonly #path: string;

  /** Deletes unfinished files of killed processes. The folder is created (0700) with the first file. @throws BenchError `disk` */
  constructor(path: string) {
    this.#path = path;
    if (!existsSync(path)) return;
    try {
      for (const name of readdirSync(path)) {
        const writer = UNFINISHED.exec(name)?.[1];
        if (writer !== undefined && !isProcessRunning(Number(writer))) removeAny(join(path, name));
      }
    } catch (cause) {
      throw cannotStore(path, cause);
    }
  }

  /** Stores the file that `save` writes to the given path; leaves nothing behind if that fails. @throws BenchError `disk` */
  async write(id: string, save: (path: string) => Promise<number>) {
    const path = this.#filePath(id);
    const unfinished = `${path}.${process.pid}.partial`;
    try {
      mkdirSync(this.#path, { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw cannotStore(this.#path, cause);
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
   * @returns verified bytes, and the file's `identity` before reading
   * @throws BenchError `bad-state` if the file is missing or its bytes have changed since writing; `disk`
   */
  read({ id, bytes, sha256 }: Checkpoint) {
    const path = this.#filePath(id);
    const identity = this.identity(id);
    let found: ReturnType<typeof readRegularFile>;
    try {
      found = readRegularFile(path);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      const hint = 'name a readable folder: --kv-store DIR';
      throw new BenchError('disk', `${path}: a KV state cannot be read: ${code}`, hint, cause);
    }
    if (found === 'missing') throw new BenchError('bad-state', `${path}: no such KV state`, 'compute it again');
    if (found === 'irregular') throw new BenchError('bad-state', `${path}: not a regular file`, 'compute it again');
    if (found.length === bytes && hash('sha256', found) === sha256) return { path, bytes: found, identity };
    const message = `${path}: its bytes have changed since it was saved`;
    throw new BenchError('bad-state', message, 'delete it; it will be computed again');
  }

  /** Changes whenever the file is replaced or written to; undefined if there is no accessible regular file. */
  identity(id: string): string | undefined {
    try {
      const found = lstatSync(this.#filePath(id), { bigint: true });
      const { dev, ino, size, mtimeNs, ctimeNs } = found;
      return found.isFile() ? [dev, ino, size, mtimeNs, ctimeNs].join(' ') : undefined;
    } catch {
      return undefined;
    }
  }

  remove(id: string): void {
    removeAny(this.#filePath(id));
  }

  #filePath(id: string): string {
    if (!checkpointSchema.unwrap().shape.id.safeParse(id).success) {
      throw new RangeError(`${JSON.stringify(id)} is not a checkpoint id: use at most 100 letters, digits, hyphens`);
    }
    return join(this.#path, `${id}.state`);
  }
}

function cannotStore(path: string, cause: unknown): BenchError {
  const { code } = cause as NodeJS.ErrnoException;
  const message = `${path}: cannot keep KV states there: ${code}`;
  return new BenchError('disk', message, 'name a writable folder: --kv-store DIR', cause);
}
