import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { BenchError } from '../base/bench-error.ts';

const MOST_LINE_BYTES = 16_000_000;
const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = '\uFEFF';

/** A line that is not blank, without its line break, and its number, counted from 1. */
export interface FileLine {
  readonly number: number;
  readonly text: string;
}

/** The lines of a file as a stream; `sha256`, of its bytes, is available after the last line was read. */
export interface FileLines extends AsyncIterable<FileLine> {
  readonly sha256: () => string;
}

/** Error for a file that cannot be read: `not-found` if there is none, else `bad-data`. */
export function unreadable(path: string, error: unknown): BenchError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') {
    return new BenchError(
      'not-found',
      `${path}: no such file`,
      'name a file that exists, or a data set that ships: recall-en',
      error,
    );
  }
  if (code === 'EISDIR') {
    return new BenchError('bad-data', `${path}: is a folder, expected a file`, 'name one .jsonl file', error);
  }
  return new BenchError('bad-data', `${path}: cannot be read: ${message}`, 'check the path and its permissions', error);
}

/**
 * Reads a UTF-8 file line by line, without holding it whole.
 * @throws BenchError while iterating: `not-found` for a missing file, `bad-data` for a folder, bytes that are not UTF-8
 * and a line over 16 MB
 */
export function fileLines(path: string): FileLines {
  const hash = createHash('sha256');
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  function decoded(bytes: Buffer, number: number): string {
    try {
      const text = decoder.decode(bytes);
      return number === 1 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
    } catch (error) {
      throw new BenchError('bad-data', `${path}:${number}: is not UTF-8`, 'save the file as UTF-8', error);
    }
  }

  async function* rawLines(): AsyncGenerator<Buffer> {
    let pieces: Buffer[] = [];
    let bytes = 0;
    let number = 1;
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        yield Buffer.concat([...pieces, chunk.subarray(start, end)]);
        number++;
        pieces = [];
        bytes = 0;
        start = end + 1;
      }
      pieces.push(chunk.subarray(start));
      bytes += chunk.length - start;
      if (bytes > MOST_LINE_BYTES) {
        throw new BenchError('bad-data', `${path}:${number}: the line is over 16 MB`, 'write one JSON record a line');
      }
    }
    yield Buffer.concat(pieces);
  }

  async function* lines(): AsyncGenerator<FileLine> {
    let number = 0;
    try {
      for await (const raw of rawLines()) {
        number++;
        const text = decoded(raw, number);
        if (text.trim() !== '') yield { number, text };
      }
    } catch (error) {
      throw error instanceof BenchError ? error : unreadable(path, error);
    }
  }

  return { [Symbol.asyncIterator]: lines, sha256: () => hash.digest('hex') };
}
