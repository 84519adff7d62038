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
import { pipeline } from 'node:stream/promises';
import { BenchError } from '../../base/bench-error.ts';
import { checksumOfFile } from './file-checksum.ts';
import { addressOf, cacheFolderOf, type HubAccess, type HubRepository } from './hub-reference.ts';
import { IdleLimit, type WaitOptions } from './idle-limit.ts';
import {
  brokenOff,
  describeRemoteFile,
  refused,
  type RemoteFile,
  request,
  requireNoPage,
  unreachable,
  type UnprovenFile,
} from './remote-file.ts';

/** Progress of a download. */
export interface DownloadProgress {
  /** `org/repo/file` */
  readonly name: string;
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** Options of a download: a listener, a signal that cancels it, and the patience with its server. */
export interface DownloadOptions extends WaitOptions {
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

const TAG_DIGITS = 16;
/** Answers that may bring a part of a file each: a server that sends a byte at a time is given up. */
const MOST_ANSWERS = 200;

/**
 * Fetches a file of the hub at the first call and keeps it; later calls make no request. A partial download is continued.
 * The file gets its name only after it is complete and its checksum is the hub's.
 * @returns its path; undefined if the hub has no such file
 * @throws BenchError `network`, `not-found` if the hub refuses it, `disk`, `bad-data` if the checksum differs
 */
export async function hubFile(
  repository: HubRepository,
  file: string,
  hub: HubAccess,
  options: DownloadOptions = {},
): Promise<string | undefined> {
  const path = join(cacheFolderOf(repository, hub), file);
  if (existsSync(path)) return path;
  const remote = await describeRemoteFile(addressOf(repository, file, hub), hub, options);
  if (remote === undefined) return undefined;
  const name = `${repository.organisation}/${repository.repository}/${file}`;
  await fetchFile(remote, path, { ...options, name, hub });
  return path;
}

/** Options of one file's download. */
export interface FileOptions extends DownloadOptions {
  /** As progress shows it. */
  readonly name: string;
  readonly hub: Pick<HubAccess, 'endpoint' | 'token'>;
}

/**
 * Fetches a file whose size is known and gives it its name after it is complete, and proven where its checksum is known, too.
 * @throws BenchError `network`, `not-found` if the server refuses it, `disk`, `bad-data` if the checksum differs
 */
export async function fetchFile(remote: RemoteFile | UnprovenFile, path: string, options: FileOptions): Promise<void> {
  // A partial download is never continued with another version of the file.
  const version = 'checksum' in remote ? remote.checksum.value : remote.version;
  const partial = `${path}.${version.slice(0, TAG_DIGITS)}.partial`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    closeSync(openSync(partial, 'a'));
    await complete(partial, remote, options);
    await keep(partial, path, remote);
  } catch (cause) {
    // Another process may have fetched the same file first.
    if (existsSync(path) && !existsSync(partial)) return;
    if (cause instanceof BenchError || (cause as NodeJS.ErrnoException).syscall === undefined) throw cause;
    throw new BenchError(
      'disk',
      `${path} could not be written: ${(cause as NodeJS.ErrnoException).code}`,
      'free some space, or name another folder with DKI_BENCH_CACHE; the download continues where it stopped',
      cause,
    );
  }
}

/** Fetches the missing part; a broken connection is tried again as long as each attempt makes progress. */
async function complete(partial: string, remote: RemoteFile | UnprovenFile, options: FileOptions): Promise<void> {
  // Longer than the file: not a part of it.
  if (statSync(partial).size > remote.sizeBytes) truncateSync(partial);
  for (let answers = 1; ; answers++) {
    const before = statSync(partial).size;
    if (before === remote.sizeBytes) return;
    try {
      await fetchRest(partial, before, remote, options);
      if (statSync(partial).size === remote.sizeBytes) return;
      throw unreachable(remote.address, new Error(`ended at byte ${statSync(partial).size}`));
    } catch (error) {
      const isBroken = error instanceof BenchError && error.code === 'network';
      if (!isBroken || statSync(partial).size <= before || answers === MOST_ANSWERS) throw error;
    }
  }
}

async function fetchRest(
  partial: string,
  from: number,
  { address, sizeBytes }: RemoteFile | UnprovenFile,
  { name, hub, onProgress, ...options }: FileOptions,
): Promise<void> {
  using limit = new IdleLimit(options);
  const response = await request(address, hub, { headers: from > 0 ? { range: `bytes=${from}-` } : {} }, limit);
  if (!response.ok || response.body === null) throw refused(address, response.status, hub);
  requireNoPage(address, response);
  // A server without range requests sends the whole file.
  const start = response.status === 206 ? from : 0;
  if (response.status === 206) requireRange(address, response, from, sizeBytes);
  let doneBytes = start;
  let broken: unknown;
  const arriving = async function* (body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body) {
        limit.heard();
        if (doneBytes + chunk.length > sizeBytes) throw tooLong(address, sizeBytes);
        yield chunk;
        doneBytes += chunk.length;
        onProgress?.({ name, doneBytes, totalBytes: sizeBytes });
      }
    } catch (cause) {
      if (cause instanceof BenchError) throw cause;
      // Thrown from here, it would take with it what has come and waits for the disk.
      broken = cause;
    }
  };
  onProgress?.({ name, doneBytes, totalBytes: sizeBytes });
  try {
    // Written at its offset, not appended: two processes that fetch one file then write the same bytes.
    await pipeline(arriving(response.body), createWriteStream(partial, { flags: 'r+', start }));
  } catch (cause) {
    if (cause instanceof BenchError) rmSync(partial, { force: true });
    throw cause;
  }
  if (broken !== undefined) throw brokenOff(address, limit, broken);
}

/** @throws BenchError `bad-data` for an answer with another part of a file, or of a file of another length */
function requireRange(address: string, { headers }: Response, from: number, sizeBytes: number): void {
  const range = headers.get('content-range');
  const [, first, last, whole] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(range ?? '') ?? [];
  const isAsked = from > 0 && Number(first) === from && Number(last) < sizeBytes;
  if (isAsked && (whole === '*' || Number(whole) === sizeBytes)) return;
  throw new BenchError(
    'bad-data',
    `${address}: asked for the bytes from ${from} of ${sizeBytes}, the server sends ${JSON.stringify(range)}`,
    'fetch the file yourself and name it by its path',
  );
}

function tooLong(address: string, sizeBytes: number): BenchError {
  return new BenchError(
    'bad-data',
    `${address}: sends more than the ${sizeBytes} bytes that it stated; what had come was deleted`,
    'fetch the file yourself and name it by its path',
  );
}

/** Gives the file its name, or deletes it if the checksum differs. */
async function keep(partial: string, path: string, remote: RemoteFile | UnprovenFile): Promise<void> {
  if (!('checksum' in remote)) {
    renameSync(partial, path);
    return;
  }
  const { checksum, address } = remote;
  const actual = await checksumOfFile(partial, checksum.kind);
  if (actual === checksum.value) {
    renameSync(partial, path);
    return;
  }
  rmSync(partial, { force: true });
  throw new BenchError(
    'bad-data',
    `${address}: damaged in transfer: its ${checksum.kind} is ${actual}, expected ${checksum.value}; the file was deleted`,
    'run it again to fetch it once more',
  );
}
