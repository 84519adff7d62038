import { BenchError } from '../base/bench-error.ts';
import { composeForRuns } from '../bench/compose.ts';
import type { BenchConfig } from '../config/bench-config.ts';
import { attribute } from '../eval/run/attribution/attribute.ts';
import { loadRunModel, runModel } from '../eval/run/attribution/model-of-run.ts';
import { AttributionRepository } from '../store/attribution-repository.ts';
import { TurnRepository } from '../store/turn-repository.ts';
import type { TurnRef } from '../viewer/links.ts';
import { findRun, openStoredRuns } from './stored-runs.ts';

interface AttributionOptions {
  readonly onProgress?: (arm: string, done: number, of: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Computes and stores the leave-one-out attribution of turns of one run, with its model.
 * @throws BenchError `not-found` for a turn that the run does not have, `bad-model` if the model is not the run's
 */
export async function storeAttributions(
  config: Pick<BenchConfig, 'db' | 'model' | 'engine' | 'given'>,
  turns: readonly TurnRef[],
  { onProgress, signal }: AttributionOptions = {},
): Promise<void> {
  using database = openStoredRuns(config.db);
  const run = findRun(database, turns[0]!.run);
  const stored = turns.map(({ item, arm, repeat, turn }) => {
    const found = new TurnRepository(database)
      .find(run.id, item, arm)
      .find((row) => row.repeat === repeat && row.turn === turn);
    if (found !== undefined) return found;
    const which = `turn ${turn} of item ${item}, arm ${arm}, repeat ${repeat}`;
    throw new BenchError('not-found', `run "${run.name}" has no ${which}`, 'choose one that the run holds');
  });
  await using engine = await loadRunModel(runModel(run), config.model, composeForRuns(config));
  for (const turn of stored) {
    const attribution = await attribute(turn, engine, {
      onProgress: (done, of) => onProgress?.(turn.arm, done, of),
      ...(signal === undefined ? {} : { signal }),
    });
    new AttributionRepository(database).put(turn.id, attribution);
  }
}
