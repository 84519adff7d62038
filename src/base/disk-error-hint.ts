import { statfsSync } from 'node:fs';

const hints: Readonly<Record<string, string>> = {
  ENOSPC: 'free some space',
  EDQUOT: 'free some space: the quota is used up',
  EFBIG: 'raise the limit on the size of files: ulimit -f',
  EMFILE: 'raise the limit on open files: ulimit -n',
  ENFILE: 'close other programs: the system has no more open files',
  EACCES: 'check who may write there',
  EPERM: 'check who may write there',
  EROFS: 'choose another place: this file system is read-only',
  EIO: 'check the disk',
};

/** With less free space than this, a failed write is blamed on a full disk. */
const FEW_BYTES = 8 * 2 ** 20;

/** Says what the user can do about a failed write. @param folder whose free space is checked if the error code says nothing */
export function diskErrorHint(cause: unknown, folder?: string): string {
  const known = hints[(cause as NodeJS.ErrnoException).code ?? ''];
  if (known !== undefined) return known;
  return folder !== undefined && freeBytes(folder) < FEW_BYTES
    ? hints['ENOSPC']!
    : 'check the path, its permissions and the space there';
}

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}
