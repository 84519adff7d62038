import { type BenchDatabase, openDatabase } from '../../src/db/database.ts';
import { RunRepository } from '../../src/db/run-repository.ts';
import { type StoredTurn, TurnRepository } from '../../src/db/turn-repository.ts';
import { composeEngine, runBench } from '../../src/cli/compose.ts';
import { loadRunModel, runModel } from '../../src/eval/attribution/model-of-run.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { EngineSession } from '../../src/engine/engine-session.ts';
import type { RunRecord } from '../../src/records/run-record.ts';
import type { AnsweredTurn } from '../../src/records/turn-record.ts';
import { smallConfig, TestFolder } from './bench-fixture.ts';

type Answered = AnsweredTurn & { readonly id: number };

/** A small run of the shipped model, its turns, and the model opened again. */
export class FinishedRun implements AsyncDisposable {
  private constructor(
    readonly folder: TestFolder,
    readonly config: ReturnType<typeof smallConfig>,
    readonly database: BenchDatabase,
    readonly run: RunRecord,
    readonly engine: Engine,
  ) {}

  static async of(arms: readonly string[]): Promise<FinishedRun> {
    const folder = new TestFolder();
    const config = smallConfig(folder, { arms: arms.join(), run: 'small', limit: '8' });
    await runBench(config);
    const database = openDatabase({ path: config.db });
    const run = new RunRepository(database).findByName('small')!;
    const engine = await loadRunModel(runModel(run), config.model, composeEngine);
    return new FinishedRun(folder, config, database, run, engine);
  }

  turnsOf(arm: string): Answered[] {
    return [...new TurnRepository(this.database).listByRun(this.run.id, { arm })].filter(isAnswered);
  }

  /** A right answer that rests on one of several memories. */
  telling(arm: string): Answered {
    return this.turnsOf(arm).find(
      (turn) => turn.scores.exactMatch === 1 && evidenceOf(turn) !== undefined && turn.given.retrieved.length > 1,
    )!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine[Symbol.asyncDispose]();
    this.database.close();
    this.folder[Symbol.dispose]();
  }
}

const isAnswered = (turn: StoredTurn): turn is Answered => turn.state === 'answered';

/** The id of the memory that holds the answer, where it was retrieved. */
export function evidenceOf({ given }: Answered): string | undefined {
  return given.retrieved.find(({ evidence }) => evidence)?.memoryId;
}

/** Tokens that the model has evaluated in a session. */
export async function meterOf(session: EngineSession): Promise<number> {
  const { evaluated, decoded } = await session.meter();
  return evaluated! + decoded!;
}
