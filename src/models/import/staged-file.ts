import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream, mkdirSync, readdirSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { BenchError } from '../../base/bench-error.ts';
import { cacheFolder } from '../../config/cache-folder.ts';
import { isRunning } from '../../base/is-running.ts';
import type { ImportSource, OfferedFile } from './import-source.ts';

/** A complete copy of an offered file in the cache, with its hash. It is deleted unless it is moved. */
export class StagedFile implements Disposable {
  readonly path: string;
  /** In hex. */
  readonly sha256: string;

  private constructor(path: string, sha256: string) {
    this.path = path;
    this.sha256 = sha256;
  }

  /**
   * Copies a file into the cache.
   * @throws BenchError `bad-data` where an archive is damaged, `disk` if there is not enough space
   */
  static async copy({ path: source }: ImportSource, file: OfferedFile, signal?: AbortSignal): Promise<StagedFile> {
    const folder = join(cacheFolder(), 'incoming');
    const path = join(folder, `${process.pid}-${randomUUID()}`);
    const content = await file.open();
    try {
      mkdirSync(folder, { recursive: true });
      removeLeftovers(folder);
      requireSpace(folder, file, source);
      return new StagedFile(path, await copied(content, file, path, signal));
    } catch (cause) {
      content.destroy();
      rmSync(path, { force: true });
      signal?.throwIfAborted();
      throw failure(source, file, cause);
    }
  }

  /** Moves the copy to its place. */
  moveTo(place: string): void {
    mkdirSync(dirname(place), { recursive: true });
    renameSync(this.path, place);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { force: true });
  }
}

/** Writes a file and gives its sha-256. */
async function copied(
  content: AsyncIterable<Uint8Array>,
  { bytes, crc32: stated }: OfferedFile,
  path: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const hash = createHash('sha256');
  let sum = 0;
  let written = 0;
  const counted = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      signal?.throwIfAborted();
      written += chunk.length;
      if (written > bytes) throw new Error(`it is longer than the ${bytes} bytes that are stated`);
      hash.update(chunk);
      if (stated !== undefined) sum = crc32(chunk, sum);
      yield chunk;
    }
  };
  await pipeline(content, counted, createWriteStream(path, { flags: 'wx' }));
  if (written !== bytes) throw new Error(`it ends at byte ${written} of ${bytes}`);
  if (stated !== undefined && sum !== stated) throw new Error('its checksum is not what the archive states');
  return hash.digest('hex');
}

/** Removes copies of killed processes. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!isRunning(Number.parseInt(name, 10))) rmSync(join(folder, name), { force: true });
  }
}

function requireSpace(folder: string, { path, bytes }: OfferedFile, source: string): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bytes <= bavail * bsize) return;
  throw new BenchError(
    'disk',
    `${path} of ${source}: ${bytes} bytes, and ${folder} has space for ${bavail * bsize}`,
    'free some space, or name another folder with DKI_BENCH_CACHE',
  );
}

function failure(source: string, { path }: OfferedFile, cause: unknown): BenchError {
  if (cause instanceof BenchError) return cause;
  const { message, code, syscall } = cause as NodeJS.ErrnoException;
  if (syscall !== undefined) {
    const hint = 'free some space, or name another folder with DKI_BENCH_CACHE';
    return new BenchError('disk', `${path} of ${source} could not be copied: ${code}`, hint, cause);
  }
  return new BenchError('bad-data', `${path} of ${source}: damaged: ${message}`, 'fetch it again', cause);
}
