import type { BenchConfig } from '../config/bench-config.ts';
import type { TurnRef } from '../inspect/links.ts';
import { exitCodes } from './failure.ts';
import { InfluenceService } from './influence-port.ts';
import { interruptible } from './interruption.ts';
import { ProgressDisplay } from './progress.ts';

/** Computes and stores the influence of each memory of turns, with progress on standard error; false where ^C ended it. */
export async function computeInfluences(
  config: Pick<BenchConfig, 'db' | 'model' | 'quiet'>,
  turns: readonly TurnRef[],
): Promise<boolean> {
  await using service = new InfluenceService(config);
  using display = config.quiet ? undefined : new ProgressDisplay(process.stderr);
  display?.say('loading the model');
  const interruption = new AbortController();
  const compute = async (): Promise<void> => {
    for (const turn of turns) {
      const onProgress = (done: number, of: number) =>
        display?.say(`influence on the answer of ${turn.arm}: ${done} of ${of} evaluations`);
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
