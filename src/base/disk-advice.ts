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

/** What to do where a file cannot be written, by the cause. */
export function diskAdvice(cause: unknown): string {
  return advice[(cause as NodeJS.ErrnoException).code ?? ''] ?? 'check the path, its permissions and the space there';
}
