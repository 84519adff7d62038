/** Signals of one key press reach a process more than once where npm and tsx pass them on. */
export const echoMs = 500;

/**
 * Runs `work` while the first ^C, a SIGTERM, or the end of the terminal aborts through `controller`; the second ends the process at once with
 * `exitCode`. `onInterrupt` is called at the first.
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
