import type { DatasetItem } from '../../data/dataset.ts';
import type { WarmUp } from './run-estimate.ts';
import type { UserRun } from './user-run.ts';

/** A warm-up that takes less is done twice, and the second round is measured. */
const SECOND_ROUND_BELOW_MS = 4000;

/** Asks every arm an item of the user, and stores no turn. */
export async function warmUp(user: UserRun, item: DatasetItem, signal: AbortSignal): Promise<WarmUp> {
  const start = performance.now();
  const warm = await user.warmUp(item, signal);
  // Of a quick model the first round is much slower than those to come.
  return performance.now() - start < SECOND_ROUND_BELOW_MS ? await user.warmUp(item, signal) : warm;
}
