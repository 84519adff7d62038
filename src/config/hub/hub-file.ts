import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  createWriteStream,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { BenchError } from '../bench-error.ts';
import { checksumOfFile } from './file-checksum.ts';
import { addressOf, cacheFolderOf, type HubAccess, type HubRepository } from './hub-reference.ts';
import { describeRemoteFile, refused, type RemoteFile, request, unreachable } from './remote-file.ts';

/** How far a download is. */
export interface DownloadProgress {
  /** `org/repo/file` */
  readonly name: string;
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** Who watches a download, and may end it. */
export interface DownloadOptions {
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

const TAG_DIGITS = 16;

/**
 * The path of a file of the hub, fetched at the first call and kept: afterwards no request is made. What was fetched of
 * it before is not fetched again. It has its name only when it is complete and its checksum is the hub's.
 *
 * @returns undefined where the hub has no such file
 * @throws BenchError `network`, `not-found` where the hub refuses it, `disk`, `bad-data` where the checksum differs
 */
export async function hubFile(
  repository: HubRepository,
  file: string,
  hub: HubAccess,
  options: DownloadOptions = {},
): Promise<string | undefined> {
  const path = join(cacheFolderOf(repository, hub), file);
  if (existsSync(path)) return path;
  const remote = await describeRemoteFile(addressOf(repository, file, hub), hub, options.signal);
  if (remote === undefined) return undefined;
  // Another version of the file never goes on where this one ended.
  const partial = `${path}.${remote.checksum.value.slice(0, TAG_DIGITS)}.partial`;
  const name = `${repository.organisation}/${repository.repository}/${file}`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    closeSync(openSync(partial, 'a'));
    await complete(partial, remote, name, hub, options);
    await keep(partial, path, remote);
  } catch (cause) {
    // Another process that fetches the same bytes to the same place may have been the first.
    if (existsSync(path) && !existsSync(partial)) return path;
    if (cause instanceof BenchError || (cause as NodeJS.ErrnoException).syscall === undefined) throw cause;
    throw new BenchError(
      'disk',
      `${path} could not be written: ${(cause as NodeJS.ErrnoException).code}`,
      'free some space, or name another folder with XDG_CACHE_HOME; what is there already is not fetched again',
      cause,
    );
  }
  return path;
}

/** Fetches what is missing; a line that breaks is tried again for as long as it brings something. */
async function complete(
  partial: string,
  remote: RemoteFile,
  name: string,
  hub: HubAccess,
  options: DownloadOptions,
): Promise<void> {
  // Longer than the file: not of it.
  if (statSync(partial).size > remote.sizeBytes) truncateSync(partial);
  for (;;) {
    const before = statSync(partial).size;
    if (before === remote.sizeBytes) return;
    try {
      await fetchRest(partial, before, remote, name, hub, options);
      if (statSync(partial).size === remote.sizeBytes) return;
      throw unreachable(remote.address, new Error(`ended at byte ${statSync(partial).size}`));
    } catch (error) {
      const isBroken = error instanceof BenchError && error.code === 'network';
      if (!isBroken || statSync(partial).size <= before) throw error;
    }
  }
}

async function fetchRest(
  partial: string,
  from: number,
  { address, sizeBytes }: RemoteFile,
  name: string,
  hub: HubAccess,
  { onProgress, signal }: DownloadOptions,
): Promise<void> {
  const response = await request(address, hub, { headers: from > 0 ? { range: `bytes=${from}-` } : {} }, signal);
  if (!response.ok || response.body === null) throw refused(address, response.status, hub);
  // A server that knows no ranges sends all of it again.
  const start = response.status === 206 ? from : 0;
  let doneBytes = start;
  const counted = async function* (body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      yield chunk;
      doneBytes += chunk.length;
      onProgress?.({ name, doneBytes, totalBytes: sizeBytes });
    }
  };
  onProgress?.({ name, doneBytes, totalBytes: sizeBytes });
  const body = Readable.fromWeb(response.body);
  try {
    // At its place, not at the end: two processes that fetch one file then write the same bytes over each other.
    await pipeline(body, counted, createWriteStream(partial, { flags: 'r+', start }));
  } catch (cause) {
    signal?.throwIfAborted();
    if ((cause as NodeJS.ErrnoException).syscall !== undefined) throw cause;
    throw unreachable(address, cause);
  }
}

/** Gives the file its name, or deletes it where it is not what the hub has. */
async function keep(partial: string, path: string, { checksum, address }: RemoteFile): Promise<void> {
  const actual = await checksumOfFile(partial, checksum.kind);
  if (actual === checksum.value) {
    renameSync(partial, path);
    return;
  }
  rmSync(partial, { force: true });
  throw new BenchError(
    'bad-data',
    `${address}: damaged on the way: its ${checksum.kind} is ${actual}, and the hub says ${checksum.value}; deleted`,
    'run it again to fetch it once more',
  );
}
