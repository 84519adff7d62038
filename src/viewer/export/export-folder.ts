import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';

/** The folder of all files but the index. */
export const filesFolder = 'files';

/** A place of pages: the folder of an export, or a folder in it. */
export interface PagesFolder {
  /** Of all files in it. */
  readonly bytes: number;
  readonly files: number;
  /** @param path within the folder, made of counters only @throws BenchError `disk` */
  write(path: string, content: string): Promise<void>;
  /** Removes files that were written. */
  remove(paths: readonly string[]): Promise<void>;
}

/** A folder that is written beside its place and then renamed: a reader never sees half an export. */
export class ExportFolder implements PagesFolder, Disposable {
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

  get bytes(): number {
    return this.#bytes;
  }

  get files(): number {
    return this.#sizes.size;
  }

  async write(path: string, content: string): Promise<void> {
    const size = Buffer.byteLength(content);
    await onDisk(() => writeFile(join(this.#work, path), content));
    this.#sizes.set(path, size);
    this.#bytes += size;
  }

  async remove(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      await onDisk(() => rm(join(this.#work, path)));
      this.#bytes -= this.#sizes.get(path) ?? 0;
      this.#sizes.delete(path);
    }
  }

  /** Makes a folder of pages in it. @param name made of counters only @throws BenchError `disk` */
  part(name: string): PagesFolder {
    onDisk(() => mkdirSync(join(this.#work, name, filesFolder), { recursive: true }));
    return new PartFolder(this, name);
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

/** A folder in an export, which counts its own files. */
class PartFolder implements PagesFolder {
  readonly #whole: ExportFolder;
  readonly #name: string;
  readonly #before: { readonly bytes: number; readonly files: number };

  /** @param whole into which nothing else is written while this folder is */
  constructor(whole: ExportFolder, name: string) {
    this.#whole = whole;
    this.#name = name;
    this.#before = { bytes: whole.bytes, files: whole.files };
  }

  get bytes(): number {
    return this.#whole.bytes - this.#before.bytes;
  }

  get files(): number {
    return this.#whole.files - this.#before.files;
  }

  write(path: string, content: string): Promise<void> {
    return this.#whole.write(`${this.#name}/${path}`, content);
  }

  remove(paths: readonly string[]): Promise<void> {
    return this.#whole.remove(paths.map((path) => `${this.#name}/${path}`));
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
