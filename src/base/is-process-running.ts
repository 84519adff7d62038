import { hostname } from 'node:os';

/** This host in a file name, beside a process id: other hosts and containers may share the folder. */
export const hostInFileName = hostname().replaceAll(/[^0-9A-Za-z]/g, '');

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
