/** True for a process of this machine that runs, whoever owns it. */
export function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    // Of another user, and so running.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
