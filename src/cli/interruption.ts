/** Time within which further signals belong to one key press: npm and tsx pass on the signal that a process gets, too. */
export const echoMs = 500;

/**
 * Runs `work`; meanwhile the first ^C, SIGTERM or SIGHUP calls `onInterrupt` and aborts `controller`, the second ends the
 * process at once with `exitCode`.
 */
export async function interruptible<Result>(
  controller: AbortController,
  work: () => Promise<Result>,
  onInterrupt: () => void,
  exitCode: number,
): Promise<Result> {
  let interruptedAt: number | undefined;
  const interrupt = () => {
    const now = performance.now();
    if (interruptedAt === undefined) {
      interruptedAt = now;
      onInterrupt();
      controller.abort();
    } else if (now - interruptedAt > echoMs) {
      process.exit(exitCode);
    }
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt).on('SIGHUP', interrupt);
  try {
    return await work();
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt).off('SIGHUP', interrupt);
  }
}
