import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
// By namespace: Node 18 must load this file, so that a user is told which Node is needed.
import * as zlib from 'node:zlib';
import { BenchError } from '../../base/bench-error.ts';
import { diskErrorHint } from '../../base/disk-error-hint.ts';
import { cacheFolder } from '../../config/cache-folder.ts';
import { hostInFileName, isProcessRunning } from '../../base/is-process-running.ts';
import type { ImportSource, ImportFile } from './import-source.ts';

const OWN_PREFIX = `${hostInFileName}-`;
const ELSEWHERE = 'or name another folder with DKI_BENCH_CACHE';

/**
 * Copies a file of a source into the cache. The copy is deleted on disposal unless it was moved to its place.
 * @throws BenchError `bad-data` if an archive is damaged, `disk` if there is not enough space
 */
export async function stageFile({ path: source }: Pick<ImportSource, 'path'>, file: ImportFile, signal?: AbortSignal) {
  const folder = join(cacheFolder(), 'incoming');
  const path = join(folder, `${OWN_PREFIX}${process.pid}-${randomUUID()}`);
  const content = await file.open();
  try {
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder)) {
      const processId = name.startsWith(OWN_PREFIX) ? Number.parseInt(name.slice(OWN_PREFIX.length), 10) : undefined;
      if (processId !== undefined && !isProcessRunning(processId)) rmSync(join(folder, name), { force: true });
    }
    const { bavail, bsize } = statfsSync(folder);
    if (file.bytes > bavail * bsize) {
      const message = `${file.path} of ${source}: ${file.bytes} bytes, and ${folder} has space for ${bavail * bsize}`;
      throw new BenchError('disk', message, `free some space, ${ELSEWHERE}`);
    }
    const sha256 = await write(content, file, path, signal);
    return { path, sha256, [Symbol.dispose]: () => rmSync(path, { force: true }) };
  } catch (cause) {
    content.destroy();
    rmSync(path, { force: true });
    signal?.throwIfAborted();
    if (cause instanceof BenchError) throw cause;
    const { message, code, syscall } = cause as NodeJS.ErrnoException;
    throw syscall === undefined
      ? new BenchError('bad-data', `${file.path} of ${source}: damaged: ${message}`, 'fetch it again', cause)
      : new BenchError(
          'disk',
          `${file.path} of ${source} could not be copied: ${code}`,
          `${diskErrorHint(cause)}, ${ELSEWHERE}`,
          cause,
        );
  }
}

/** Writes a file, and checks length and CRC that its source states. @returns its sha-256, in hex */
async function write(
  content: AsyncIterable<Uint8Array>,
  { bytes, crc32: stated }: ImportFile,
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
      if (stated !== undefined) sum = zlib.crc32(chunk, sum);
      yield chunk;
    }
  };
  await pipeline(content, counted, createWriteStream(path, { flags: 'wx' }));
  if (written !== bytes) throw new Error(`it ends at byte ${written} of ${bytes}`);
  if (stated !== undefined && sum !== stated) throw new Error('its checksum is not what the archive states');
  return hash.digest('hex');
}
