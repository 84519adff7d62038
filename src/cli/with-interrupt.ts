import { exitCodes } from '../base/exit-codes.ts';

/** Signals within this time count as one ^C: npm and tsx forward a signal that this process also receives directly. */
export const SIGNAL_ECHO_MS = 500;

/** Time for the work to stop after the first signal, if `onCutShort` is given. */
const GRACE_MS = 1300;

interface InterruptionOptions {
  readonly onInterrupt?: () => void;
  /**
   * Called when interrupted work has stopped, or when the process exits without waiting for it. If given, the process exits soon
   * after the first signal, even if the work ignores it; if not, the process waits for the work.
   */
  readonly onCutShort?: () => void;
  readonly exitCode?: number;
}

/**
 * Runs `work`. The first ^C, SIGTERM or SIGHUP aborts its signal, the second ends the process at once.
 * @returns the result; undefined, with the exit code set, if the work was interrupted
 */
export async function withInterrupt<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  { onInterrupt, onCutShort, exitCode = exitCodes.interrupted }: InterruptionOptions = {},
): Promise<Result | undefined> {
  const controller = new AbortController();
  let interruptedAt: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const leave = (): void => {
    onCutShort?.();
    process.exit(exitCode);
  };
  const interrupt = (): void => {
    const now = performance.now();
    if (interruptedAt === undefined) {
      interruptedAt = now;
      if (onCutShort !== undefined) timer = setTimeout(leave, GRACE_MS);
      onInterrupt?.();
      controller.abort();
    } else if (now - interruptedAt > SIGNAL_ECHO_MS) {
      leave();
    }
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt).on('SIGHUP', interrupt);
  try {
    return await work(controller.signal);
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    clearTimeout(timer);
    onCutShort?.();
    process.exitCode = exitCode;
    return undefined;
  } finally {
    clearTimeout(timer);
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt).off('SIGHUP', interrupt);
  }
}
