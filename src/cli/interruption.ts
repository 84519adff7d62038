/** Time within which further signals belong to one key press: npm and tsx pass on the signal that a process gets, too. */
export const echoMs = 500;

/** Time in which work that was interrupted may end by itself; the process then ends as it stands. */
const GRACE_MS = 1300;

/**
 * Runs `work`; meanwhile the first ^C, SIGTERM or SIGHUP calls `onInterrupt` and aborts `controller`, the second ends the
 * process at once with `exitCode`.
 * @param onOverdue the process ends soon after the first signal, too, though the work goes on in a call that heeds none;
 * this is called before. Without it the work is waited for.
 */
export async function interruptible<Result>(
  controller: AbortController,
  work: () => Promise<Result>,
  onInterrupt: () => void,
  exitCode: number,
  onOverdue?: () => void,
): Promise<Result> {
  let interruptedAt: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const leave = (): void => {
    onOverdue?.();
    process.exit(exitCode);
  };
  const interrupt = () => {
    const now = performance.now();
    if (interruptedAt === undefined) {
      interruptedAt = now;
      if (onOverdue !== undefined) timer = setTimeout(leave, GRACE_MS);
      onInterrupt();
      controller.abort();
    } else if (now - interruptedAt > echoMs) {
      leave();
    }
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt).on('SIGHUP', interrupt);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt).off('SIGHUP', interrupt);
  }
}
