import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';

/** O_NONBLOCK opens a pipe without waiting for a writer; O_NOFOLLOW refuses links. On Windows both are undefined, and `|` makes that 0. */
const READ_AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
/** Errors of opening a link or a socket. */
const IRREGULAR = ['ELOOP', 'EMLINK', 'ENXIO'];
const IN_THE_WAY = ['EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST', 'EPERM'];

/**
 * The bytes of a regular file. A folder, a pipe or a link at the path is not read, so that this never blocks.
 * @throws NodeJS.ErrnoException where it cannot be read
 */
export function readRegularFile(path: string): Uint8Array<ArrayBuffer> | 'missing' | 'irregular' {
  let file: number;
  try {
    file = openSync(path, READ_AT_ONCE);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'missing';
    if (IRREGULAR.includes(code)) return 'irregular';
    throw error;
  }
  try {
    return fstatSync(file).isFile() ? readFileSync(file) : 'irregular';
  } finally {
    closeSync(file);
  }
}

/** Deletes a file, a folder or a link, if there is one. A path below a file does not exist. */
export function removeAny(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error;
  }
}

/** Renames a file, replacing anything that has the new name. */
export function moveOver(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!IN_THE_WAY.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    removeAny(to);
    renameSync(from, to);
  }
}
