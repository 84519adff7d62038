import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';

/** O_NONBLOCK opens a pipe without waiting for a writer. On Windows it is undefined, and `|` makes that 0. */
const READ_AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;
/** Error codes of opening a link or a socket. */
const IRREGULAR = ['ELOOP', 'EMLINK', 'ENXIO'];
/** Error codes of renaming to a path that another kind of file occupies. */
const IN_THE_WAY = ['EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST', 'EPERM'];

/** Bytes read in one call. Node allows less than 2 GiB. */
const CALL_BYTES = 2 ** 30;

/** Reads a file of any size, to which no process is writing. @throws NodeJS.ErrnoException if it cannot be read */
export function readLargeFile(path: string): Buffer<ArrayBuffer> {
  const file = openSync(path, 'r');
  try {
    return readOpenFile(file);
  } finally {
    closeSync(file);
  }
}

function readOpenFile(file: number): Buffer<ArrayBuffer> {
  const { size } = fstatSync(file);
  if (size <= CALL_BYTES) return readFileSync(file);
  const bytes = Buffer.allocUnsafeSlow(size);
  for (let at = 0; at < size;) {
    const read = readSync(file, bytes, at, Math.min(CALL_BYTES, size - at), at);
    if (read === 0) return bytes.subarray(0, at);
    at += read;
  }
  return bytes;
}

/**
 * Reads a regular file; never blocks, since a folder, a pipe or a link is not read.
 * @throws NodeJS.ErrnoException if the file cannot be read
 */
export function readRegularFile(path: string): Uint8Array<ArrayBuffer> | 'missing' | 'irregular' {
  let file: number;
  try {
    file = openSync(path, READ_AT_ONCE | constants.O_NOFOLLOW);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'missing';
    if (IRREGULAR.includes(code)) return 'irregular';
    throw error;
  }
  try {
    return fstatSync(file).isFile() ? readOpenFile(file) : 'irregular';
  } finally {
    closeSync(file);
  }
}

/**
 * Opens a file that the user named, following links; never blocks, since it refuses pipes and devices.
 * @returns its descriptor, to be closed @throws NodeJS.ErrnoException `EISDIR` for a folder, `EINVAL` for a pipe or a device
 */
export function openToRead(path: string): number {
  const file = openSync(path, READ_AT_ONCE);
  const stats = fstatSync(file);
  if (stats.isFile()) return file;
  closeSync(file);
  const [code, why] = stats.isDirectory() ? ['EISDIR', 'is a folder'] : ['EINVAL', 'is a pipe or a device, not a file'];
  throw Object.assign(new Error(why), { code });
}

/** Reads a file that the user named. @throws NodeJS.ErrnoException as `openToRead` */
export function readToEnd(path: string): Buffer {
  const file = openToRead(path);
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Deletes a file, a folder or a link, if there is one. */
export function removeAny(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    // A parent of the path is a file, so the path does not exist.
    if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error;
  }
}

/** Renames a file, replacing a file, folder or link of the new name. */
export function moveOver(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!IN_THE_WAY.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    removeAny(to);
    renameSync(from, to);
  }
}

/** Moves a file, also to another file system; the new name appears only when the file is complete. */
export function moveFile(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    const copy = `${to}.${process.pid}.incomplete`;
    try {
      copyFileSync(from, copy);
      renameSync(copy, to);
    } finally {
      removeAny(copy);
    }
    rmSync(from);
  }
}

/** Hard link if possible, else a copy. @throws NodeJS.ErrnoException, `EEXIST` if there is a file of that name */
export function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
}
