import { statSync } from 'node:fs';
import { hostname } from 'node:os';

/** This host in a file name, beside a process id: other hosts and containers may share the folder. */
export const hostInFileName = hostname().replaceAll(/[^0-9A-Za-z]/g, '');

/** This process in the name of a file that it writes. */
export const writerInFileName = `${hostInFileName}-${process.pid}`;

const OTHER_HOST_WRITES_FOR_MS = 60 * 60 * 1000;

/**
 * True if the process named in an unfinished file may still be writing it. Whether a process runs on another host cannot be seen:
 * there it may for an hour after it last wrote.
 */
export function isBeingWritten(path: string, writer: string): boolean {
  const [host, processId] = writer.split('-');
  if (host === hostInFileName) return isProcessRunning(Number(processId));
  const writtenMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return writtenMs !== undefined && Date.now() - writtenMs < OTHER_HOST_WRITES_FOR_MS;
}

/** True if this process runs on this machine, even if another user owns it. */
export function isProcessRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    // The process runs, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
