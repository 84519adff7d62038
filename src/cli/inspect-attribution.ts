import type { BenchConfig } from '../config/bench-config.ts';
import type { TurnRef } from '../viewer/links.ts';
import { AttributionService } from './attribution-service.ts';
import { composeForRuns } from '../bench/compose.ts';
import { exitCodes } from '../base/exit-codes.ts';
import { interruptible } from './interruption.ts';
import { ProgressDisplay } from './progress.ts';

/** Computes and stores the leave-one-out attribution of turns, with progress on standard error; false if ^C ended it. */
export async function computeAttributions(
  config: Pick<BenchConfig, 'db' | 'model' | 'engine' | 'given' | 'quiet'>,
  turns: readonly TurnRef[],
): Promise<boolean> {
  await using service = new AttributionService(config, composeForRuns(config));
  using display = config.quiet ? undefined : new ProgressDisplay(process.stderr);
  display?.say('loading the model');
  const interruption = new AbortController();
  const compute = async (): Promise<void> => {
    for (const turn of turns) {
      const onProgress = (done: number, of: number) =>
        display?.say(`leave-one-out attribution of ${turn.arm}: ${done} of ${of} evaluations`);
      await service.compute(turn, onProgress, interruption.signal);
    }
  };
  try {
    await interruptible(interruption, compute, () => display?.say('stopping'), exitCodes.interrupted);
    return true;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    return false;
  }
}
