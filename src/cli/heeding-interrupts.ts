import { exitCodes } from '../base/exit-codes.ts';
import { interruptible } from './interruption.ts';

/** Runs work that ^C ends without a trace: what was copied or fetched in part has no name yet. */
export async function heedingInterrupts(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const interruption = new AbortController();
  try {
    await interruptible(
      interruption,
      () => work(interruption.signal),
      () => undefined,
      exitCodes.interrupted,
    );
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    process.exitCode = exitCodes.interrupted;
  }
}
