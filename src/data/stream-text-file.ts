import { createHash, type Hash } from 'node:crypto';
import { createReadStream, readSync } from 'node:fs';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { BenchError } from '../base/bench-error.ts';
import { openToRead } from '../base/read-remove-rename-files.ts';

const MAX_LINE_BYTES = 16_000_000;
const GZIP = Buffer.from([0x1f, 0x8b]);

/** A non-blank line, without its line break; or an element of a list. */
export interface FileLine {
  /** For messages: `file:4`, or `file: [3]` for an element. */
  readonly place: string;
  readonly text: string;
}

/** Stream of the parts of a file. `sha256` hashes the bytes of the file; call it after the last part. */
export interface HashedStream<Part> extends AsyncIterable<Part> {
  readonly sha256: () => string;
}

export type FileLines = HashedStream<FileLine>;

/** Error for a file that cannot be read: `not-found` if there is none, else `bad-data`. */
export function unreadable(path: string, error: unknown): BenchError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') {
    const hint = 'name a file that exists, or a data set that ships: recall-en';
    return new BenchError('not-found', `${path}: no such file`, hint, error);
  }
  if (code === 'EISDIR') {
    return new BenchError('bad-data', `${path}: is a folder, expected a file`, 'name one .jsonl file', error);
  }
  return new BenchError('bad-data', `${path}: cannot be read: ${message}`, 'check the path and its permissions', error);
}

/** Bytes of a file; gzip is unpacked. @param hash is updated with the bytes on disk */
function openBytes(path: string, hash?: Hash): Readable {
  const fd = openToRead(path);
  const start = Buffer.alloc(2);
  readSync(fd, start, 0, 2, 0);
  const file = createReadStream(path, { fd, start: 0 });
  if (hash !== undefined) file.on('data', (bytes) => hash.update(bytes));
  return pipeline(file, start.equals(GZIP) ? createGunzip() : new PassThrough(), () => undefined);
}

/**
 * Streams the lines of a UTF-8 file.
 * @throws BenchError while iterating: `not-found` for a missing file, `bad-data` for a folder, invalid UTF-8, a line
 * over 16 MB
 */
export function fileLines(path: string): FileLines {
  const hash = createHash('sha256');
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  /** @param bytes one per character */
  function decode(bytes: string, number: number): FileLine[] {
    try {
      const whole = decoder.decode(Buffer.from(bytes, 'latin1'));
      const text = number === 1 ? whole.replace(/^\uFEFF/, '') : whole;
      return text.trim() === '' ? [] : [{ text, place: `${path}:${number}` }];
    } catch (error) {
      throw new BenchError('bad-data', `${path}:${number}: is not UTF-8`, 'save the file as UTF-8', error);
    }
  }

  async function* lines(): AsyncGenerator<FileLine> {
    let number = 1;
    let rest = '';
    try {
      for await (const chunk of openBytes(path, hash).setEncoding('latin1') as AsyncIterable<string>) {
        const [first = '', ...others] = chunk.split('\n');
        const ended = [rest + first, ...others];
        rest = ended.pop()!;
        for (const line of ended) yield* decode(line, number++);
        if (rest.length <= MAX_LINE_BYTES) continue;
        throw new BenchError('bad-data', `${path}:${number}: the line is over 16 MB`, 'write one JSON record per line');
      }
      yield* decode(rest, number);
    } catch (error) {
      throw error instanceof BenchError ? error : unreadable(path, error);
    }
  }

  return { [Symbol.asyncIterator]: lines, sha256: () => hash.digest('hex') };
}

/**
 * Streams the text of a UTF-8 file in chunks, without a byte order mark.
 * @param hash is updated with the bytes of the file
 * @throws BenchError while iterating: `not-found` for a missing file, `bad-data` for bytes that are not UTF-8
 */
export async function* fileText(path: string, hash?: Hash): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  try {
    for await (const chunk of openBytes(path, hash) as AsyncIterable<Buffer>) {
      yield decoder.decode(chunk, { stream: true });
      bytes += chunk.length;
    }
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw unreadable(path, error);
    const message = `${path}: is not UTF-8, somewhere after byte ${bytes}`;
    throw new BenchError('bad-data', message, 'save the file as UTF-8', error);
  }
}
