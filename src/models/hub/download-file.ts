import { pipeline } from 'node:stream/promises';
import { dirname } from 'node:path';
import {
  closeSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { BenchError } from '../../base/bench-error.ts';
import { diskErrorHint } from '../../base/disk-error-hint.ts';
import type { RemoteFile } from './describe-remote-file.ts';
import { fileChecksum } from './file-checksum.ts';
import {
  connectionError,
  idleTimeout,
  refused,
  requireNoPage,
  send,
  type Server,
  type WaitOptions,
} from './hub-request.ts';

export interface DownloadProgress {
  /** `org/repo/file` */
  readonly name: string;
  readonly doneBytes: number;
  readonly totalBytes: number;
}

export interface DownloadOptions extends WaitOptions {
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/** Limit on responses, against a server that sends one byte in each. */
const MAX_ANSWERS = 200;

export interface FileOptions extends DownloadOptions {
  /** Name in progress and messages. */
  readonly name: string;
  readonly hub: Server;
  /** Path of the incomplete file; by default beside the file, with its version in the name. */
  readonly partial?: string;
}

/**
 * Downloads a file of known size. It gets its name when it is complete, and verified if it has a checksum.
 * @throws BenchError `network`, `not-found` if the server refuses it, `disk`, `bad-data` if the checksum differs
 */
export async function downloadFile(remote: RemoteFile, path: string, options: FileOptions): Promise<void> {
  // A partial download is never continued with another version of the file.
  const { partial = `${path}.${remote.version.slice(0, 16)}.partial` } = options;
  try {
    mkdirSync(dirname(path), { recursive: true });
    closeSync(openSync(partial, 'a'));
    await complete(partial, remote, options);
    await verify(partial, remote);
    renameSync(partial, path);
  } catch (cause) {
    // Another process may have fetched the same file first.
    if (existsSync(path) && !existsSync(partial)) return;
    const { syscall, code } = cause as NodeJS.ErrnoException;
    if (cause instanceof BenchError || syscall === undefined) throw cause;
    throw new BenchError(
      'disk',
      `${options.name} could not be written to ${dirname(path)}: ${code}`,
      `${diskErrorHint(cause)}, or name another folder with HF_HOME or DKI_BENCH_CACHE; the download continues where it stopped`,
      cause,
    );
  }
}

/** Fetches the missing part; a broken connection is tried again as long as each attempt makes progress. */
async function complete(partial: string, remote: RemoteFile, options: FileOptions): Promise<void> {
  // A partial file that is longer is not part of this file.
  if (statSync(partial).size > remote.sizeBytes) truncateSync(partial);
  for (let answers = 1; ; answers++) {
    const before = statSync(partial).size;
    if (before === remote.sizeBytes) return;
    try {
      await fetchRest(partial, before, remote, options);
      if (statSync(partial).size === remote.sizeBytes) return;
      const message = `${remote.address} ended at byte ${statSync(partial).size} of ${remote.sizeBytes}`;
      throw new BenchError('network', message, 'run it again, which continues the download');
    } catch (error) {
      const isBroken = error instanceof BenchError && error.code === 'network';
      if (!isBroken || statSync(partial).size <= before || answers === MAX_ANSWERS) throw error;
    }
  }
}

async function fetchRest(
  partial: string,
  from: number,
  { address, sizeBytes }: RemoteFile,
  { name, hub, onProgress, ...options }: FileOptions,
): Promise<void> {
  using timeout = idleTimeout(options);
  const response = await send(address, hub, { headers: from > 0 ? { range: `bytes=${from}-` } : {} }, timeout);
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
        timeout.restart();
        if (doneBytes + chunk.length > sizeBytes) throw tooLong(address, sizeBytes);
        yield chunk;
        doneBytes += chunk.length;
        onProgress?.({ name, doneBytes, totalBytes: sizeBytes });
      }
    } catch (cause) {
      if (cause instanceof BenchError) throw cause;
      // Throwing here would discard bytes that have arrived but are not yet written.
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
  if (broken !== undefined) throw connectionError(address, timeout, broken);
}

/** @throws BenchError `bad-data` for an answer with another part of the file, or of a file of another length */
function requireRange(address: string, { headers }: Response, from: number, sizeBytes: number): void {
  const range = headers.get('content-range');
  const [, first, last, whole] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(range ?? '') ?? [];
  const isRequested = from > 0 && Number(first) === from && Number(last) < sizeBytes;
  if (isRequested && (whole === '*' || Number(whole) === sizeBytes)) return;
  throw new BenchError(
    'bad-data',
    `${address}: asked for the bytes from ${from} of ${sizeBytes}, the server sends ${JSON.stringify(range)}`,
    'fetch the file yourself and name it by its path',
  );
}

function tooLong(address: string, sizeBytes: number): BenchError {
  return new BenchError(
    'bad-data',
    `${address}: sends more than the ${sizeBytes} bytes that it stated; the partial file was deleted`,
    'fetch the file yourself and name it by its path',
  );
}

/** Deletes a file whose checksum differs. @throws BenchError `bad-data` */
async function verify(partial: string, { checksum, address }: RemoteFile): Promise<void> {
  if (checksum === undefined) return;
  const { kind, value } = checksum;
  const actual = await fileChecksum(partial, kind);
  if (actual === value) return;
  rmSync(partial, { force: true });
  throw new BenchError(
    'bad-data',
    `${address}: damaged in transfer: its ${kind} is ${actual}, expected ${value}; the file was deleted`,
    'run it again to fetch it once more',
  );
}
