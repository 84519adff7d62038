import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { BenchError } from '../../base/bench-error.ts';
import type { ImportSource, OfferedFile } from './offered-file.ts';

const MOST_ENTRIES = 100_000;
/** Deflate reaches 1,032; weights, which look like noise, hardly 2. */
const MOST_COMPRESSION = 200;

/**
 * Opens a zip archive. Its directory alone is read: nothing is unpacked, and no name in it becomes a path of the disk.
 * @throws BenchError `bad-data` for a broken archive, and for one with a name that would leave its folder
 */
export async function openZip(path: string): Promise<ImportSource> {
  let zip: ZipFile | undefined;
  try {
    zip = await openPromise(path, { autoClose: false, validateEntrySizes: true });
    if (zip.entryCount > MOST_ENTRIES) throw new Error(`it has ${zip.entryCount} entries`);
    const files: OfferedFile[] = [];
    for await (const entry of zip.eachEntry()) {
      if (!entry.fileName.endsWith('/')) files.push(offered(path, zip, entry));
    }
    const opened = zip;
    return { path, files, [Symbol.dispose]: () => opened.close() };
  } catch (cause) {
    zip?.close();
    throw unreadable(path, cause);
  }
}

function offered(path: string, zip: ZipFile, entry: Entry): OfferedFile {
  return {
    path: entry.fileName,
    bytes: entry.uncompressedSize,
    crc32: entry.crc32,
    open: async () => {
      try {
        if (entry.isEncrypted()) throw new Error(`${entry.fileName} is encrypted`);
        if (entry.uncompressedSize > entry.compressedSize * MOST_COMPRESSION) {
          throw new Error(`${entry.fileName} unpacks to more than ${MOST_COMPRESSION} times its size`);
        }
        return await zip.openReadStreamPromise(entry);
      } catch (cause) {
        throw unreadable(path, cause);
      }
    },
  };
}

function unreadable(path: string, cause: unknown): BenchError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new BenchError('bad-data', `${path}: cannot be unpacked: ${why}`, 'fetch the archive again', cause);
}
