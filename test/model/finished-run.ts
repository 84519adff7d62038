import { type BenchDatabase, openDatabase } from '../../src/store/database.ts';
import { RunRepository } from '../../src/store/run-repository.ts';
import { TurnRepository } from '../../src/store/turn-repository.ts';
import { selectEngine } from '../../src/bench/select-engine.ts';
import { runBench } from '../../src/bench/run-bench.ts';
import { loadRunModel } from '../../src/eval/run/attribution/load-run-model.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { EngineSession } from '../../src/engine/engine-session.ts';
import type { RunResults } from '../../src/store/records/run-results.ts';
import type { RunRecord } from '../../src/store/records/run-record.ts';
import type { AnsweredTurn } from '../../src/store/records/turn-record.ts';
import { smallConfig, TestFolder } from './bench-fixture.ts';

type Answered = AnsweredTurn & { readonly id: number };

/** The turns of a run, or of one arm of it, in the order of writing. @throws Error where one failed */
export function answeredTurns({ db }: { readonly db: string }, name: string, arm?: string): Answered[] {
  using database = openDatabase({ path: db });
  const { id } = new RunRepository(database).findByName(name)!;
  return [...new TurnRepository(database).listByRun(id, arm === undefined ? {} : { arm })].map((turn) => {
    if (turn.state === 'failed') throw new Error(turn.error.message);
    return turn;
  });
}

/** A small run of the shipped model, its turns, and the model opened again. */
export interface FinishedRun extends AsyncDisposable {
  readonly folder: TestFolder;
  readonly config: ReturnType<typeof smallConfig>;
  readonly database: BenchDatabase;
  readonly run: RunRecord;
  readonly results: RunResults;
  readonly engine: Engine;
  turnsOf(arm: string): Answered[];
  /** A right answer that rests on one of several memories. */
  telling(arm: string): Answered;
}

export async function finishedRun(arms: readonly string[], items = 8): Promise<FinishedRun> {
  const folder = new TestFolder();
  const config = smallConfig(folder, { arms: arms.join(), run: 'small', limit: String(items) });
  const [results] = await runBench(config);
  const database = openDatabase({ path: config.db });
  const run = new RunRepository(database).findByName('small')!;
  const engine = await loadRunModel(run, config.model, selectEngine);
  const turnsOf = (arm: string): Answered[] => answeredTurns(config, 'small', arm);
  return {
    ...{ folder, config, database, run, engine, turnsOf },
    results: results!,
    telling: (arm) =>
      turnsOf(arm).find(
        (turn) => turn.scores.exactMatch === 1 && evidenceOf(turn) !== undefined && turn.given.retrieved.length > 1,
      )!,
    [Symbol.asyncDispose]: async () => {
      await engine[Symbol.asyncDispose]();
      database.close();
      folder[Symbol.dispose]();
    },
  };
}

/** The id of the memory that holds the answer, where it was retrieved. */
export function evidenceOf({ given }: Answered): string | undefined {
  return given.retrieved.find(({ evidence }) => evidence)?.memoryId;
}

/** Tokens that the model has evaluated in a session. */
export async function meterOf(session: EngineSession): Promise<number> {
  const { evaluated, decoded } = await session.meter();
  return evaluated! + decoded!;
}
