import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { BenchError } from '../../config/bench-error.ts';

/** All files beside the index lie here. */
export const filesFolder = 'files';

/** A folder that is written beside its place and then takes it whole: a reader never meets half an export. */
export class ExportFolder implements Disposable {
  readonly #target: string;
  readonly #work: string;
  readonly #sizes = new Map<string, number>();
  #bytes = 0;

  /** @throws BenchError `bad-option` where something stands in the place, `disk` where nothing can be written beside it */
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

  /** Takes files back. */
  async remove(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      await onDisk(() => rm(join(this.#work, path)));
      this.#bytes -= this.#sizes.get(path) ?? 0;
      this.#sizes.delete(path);
    }
  }

  /** Puts the folder in its place. @throws BenchError `disk` where something came to stand there */
  finish(): void {
    onDisk(() => {
      if (existsSync(this.#target)) rmdirSync(this.#target);
      renameSync(this.#work, this.#target);
    });
  }

  /** What was not finished leaves nothing behind. */
  [Symbol.dispose](): void {
    rmSync(this.#work, { recursive: true, force: true });
  }
}

/** The place itself, links followed; nothing stands there but perhaps an empty folder. */
function freePlace(path: string): string {
  const refused = (why: string) =>
    new BenchError('bad-option', `--export ${path}: ${why}`, 'name a folder that is new');
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
      'make room, or name another folder',
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
