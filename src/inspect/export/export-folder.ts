import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { BenchError } from '../../config/bench-error.ts';

/** The folder of all files but the index. */
export const filesFolder = 'files';

/** A folder that is written beside its place and then renamed: a reader never sees half an export. */
export class ExportFolder implements Disposable {
  readonly #target: string;
  readonly #work: string;
  readonly #sizes = new Map<string, number>();
  #bytes = 0;

  /** @throws BenchError `bad-option` if the place is taken, `disk` if nothing can be written beside it */
  constructor(path: string) {
    this.#target = freePlace(path);
    this.#work = `${this.#target}.${process.pid}.part`;
    onDisk(() => {
      mkdirSync(dirname(this.#work), { recursive: true });
      mkdirSync(this.#work);
      mkdirSync(join(this.#work, filesFolder));
    });
  }

  /** Of all files. */
  get bytes(): number {
    return this.#bytes;
  }

  get files(): number {
    return this.#sizes.size;
  }

  /** @param path within the folder, made of counters only @throws BenchError `disk` */
  async write(path: string, content: string): Promise<void> {
    const size = Buffer.byteLength(content);
    await onDisk(() => writeFile(join(this.#work, path), content));
    this.#sizes.set(path, size);
    this.#bytes += size;
  }

  /** Removes files that were written. */
  async remove(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      await onDisk(() => rm(join(this.#work, path)));
      this.#bytes -= this.#sizes.get(path) ?? 0;
      this.#sizes.delete(path);
    }
  }

  /** Renames the folder to its place. @throws BenchError `disk` if the place was taken meanwhile */
  finish(): void {
    onDisk(() => {
      if (existsSync(this.#target)) rmdirSync(this.#target);
      renameSync(this.#work, this.#target);
    });
  }

  /** Deletes what was not finished. */
  [Symbol.dispose](): void {
    rmSync(this.#work, { recursive: true, force: true });
  }
}

/** Resolves the place, links followed, and refuses one that holds anything. */
function freePlace(path: string): string {
  const refused = (why: string) => new BenchError('bad-option', `--export ${path}: ${why}`, 'name a new folder');
  const wanted = resolve(path);
  if (!existsSync(wanted)) return wanted;
  const place = realpathSync(wanted);
  if (!statSync(place).isDirectory()) throw refused('it is a file');
  if (readdirSync(place).length > 0) throw refused('the folder is not empty');
  return place;
}

function onDisk<Result>(work: () => Result): Result {
  const failed = (error: unknown) =>
    new BenchError(
      'disk',
      `the export cannot be written: ${(error as Error).message}`,
      'free some space, or name another folder',
      error,
    );
  try {
    const result = work();
    return result instanceof Promise
      ? (result.catch((error: unknown) => Promise.reject(failed(error))) as Result)
      : result;
  } catch (error) {
    throw failed(error);
  }
}
