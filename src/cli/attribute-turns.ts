import { selectEngineForRuns } from '../bench/select-engine.ts';
import type { BenchConfig } from '../config/bench-config.ts';
import { attribute } from '../eval/run/attribution/attribute.ts';
import { loadRunModel } from '../eval/run/attribution/load-run-model.ts';
import { AttributionRepository } from '../store/attribution-repository.ts';
import type { BenchDatabase } from '../store/database.ts';
import { TurnRepository } from '../store/turn-repository.ts';
import type { TurnRecord } from '../store/records/turn-record.ts';
import { findRun } from './stored-runs.ts';

interface TurnReference {
  readonly run: { readonly name: string };
  readonly turn: Pick<TurnRecord, 'itemId' | 'arm' | 'repeat' | 'turn'>;
}

/** Computes and stores the attribution of turns of one run. @throws BenchError `bad-model` if the model is not the run's */
export async function attributeTurns(
  database: BenchDatabase,
  config: Pick<BenchConfig, 'model' | 'engine' | 'given'>,
  turns: readonly TurnReference[],
  { onProgress, signal }: { onProgress?: (arm: string, done: number, of: number) => void; signal?: AbortSignal } = {},
): Promise<void> {
  const run = findRun(database, turns[0]!.run.name);
  await using engine = await loadRunModel(run, config.model, selectEngineForRuns(config));
  for (const { turn } of turns) {
    const stored = new TurnRepository(database)
      .find(run.id, turn.itemId, turn.arm)
      .find((row) => row.repeat === turn.repeat && row.turn === turn.turn)!;
    const attribution = await attribute(stored, engine, {
      onProgress: (done, of) => onProgress?.(turn.arm, done, of),
      ...(signal === undefined ? {} : { signal }),
    });
    new AttributionRepository(database).put(stored.id, attribution);
  }
}
