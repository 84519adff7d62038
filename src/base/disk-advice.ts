import { statfsSync } from 'node:fs';

/** Advice by the system's error code. */
const advice: Readonly<Record<string, string>> = {
  ENOSPC: 'free some space',
  EDQUOT: 'free some space: the quota is used up',
  EFBIG: 'raise the limit on the size of files: ulimit -f',
  EMFILE: 'raise the limit on open files: ulimit -n',
  ENFILE: 'close other programs: the system has no more open files',
  EACCES: 'check who may write there',
  EPERM: 'check who may write there',
  EROFS: 'it can only be read',
  EIO: 'check the disk',
};

/** Less is left where a write failed for want of space. */
const FEW_BYTES = 8 * 2 ** 20;

/** What to do where a file cannot be written, by the cause. @param folder of the file, for causes that do not say the reason */
export function diskAdvice(cause: unknown, folder?: string): string {
  const known = advice[(cause as NodeJS.ErrnoException).code ?? ''];
  if (known !== undefined) return known;
  return folder !== undefined && freeBytes(folder) < FEW_BYTES
    ? advice['ENOSPC']!
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
