import { and, eq, min, sql } from 'drizzle-orm';
import type { TurnResult } from './records/turn-result.ts';
import type { BenchDatabase } from './database.ts';
import { layoutName } from './layout-name.ts';
import { resultTurns } from './result-turns.ts';
import { type PackedResults, packResults, readPlaces, readValues, writeValues } from './results/packed-results.ts';
import { resultColumns } from './results/result-columns.ts';
import { unpackResults } from './results/result-views.ts';
import { packedResults, turns } from './schema.ts';

/** Names the columns of this release, and how their values are written. */
const LAYOUT = layoutName(['lines', ...resultColumns]);

/** The turns of a run as far as results are computed from them, user by user and packed: for runs of a million turns. */
export class ResultRepository {
  readonly #database: BenchDatabase;
  readonly #runId: string;
  readonly #find;

  constructor(database: BenchDatabase, runId: string) {
    this.#database = database;
    this.#runId = runId;
    const { userId, layout } = packedResults;
    const ofUser = and(eq(packedResults.runId, runId), eq(userId, sql.placeholder('userId')), eq(layout, LAYOUT));
    this.#find = database.query.select().from(packedResults).where(ofUser).prepare();
  }

  /** The users of whom there are turns, in the order in which they were begun. */
  userIds(): string[] {
    const { runId, userId, id } = turns;
    const first = min(id);
    return this.#database.guard(() =>
      this.#database.query
        .select({ userId, first })
        .from(turns)
        .where(eq(runId, this.#runId))
        .groupBy(userId)
        .orderBy(first)
        .all()
        .map((row) => row.userId),
    );
  }

  /**
   * The turns of a user in the order in which they were written: views, whose fields are read when they are asked for.
   * @throws BenchError `database` where a turn is not as this program writes it
   */
  ofUser(userId: string): TurnResult[] {
    return unpackResults(this.#database.guard(() => this.#packed(userId)) ?? this.pack(userId));
  }

  /** Packs the turns of a user, and keeps them so unless the database is only read. @throws BenchError as `ofUser` */
  pack(userId: string): PackedResults {
    const ofUser = and(eq(turns.runId, this.#runId), eq(turns.userId, userId));
    const pack = (): PackedResults => packResults([...resultTurns(this.#database, ofUser)]);
    if (this.#database.readOnly) return pack();
    // One transaction: no turn is written between.
    return this.#database.transaction(() => {
      const packed = pack();
      this.#keep(userId, packed);
      return packed;
    });
  }

  /** The copy of a user's turns; undefined without one, and where it is damaged: the turns are still there. */
  #packed(userId: string): PackedResults | undefined {
    try {
      const row = this.#find.get({ userId });
      if (row === undefined) return undefined;
      const values = readValues(row.values);
      return { turns: row.turns, values, places: readPlaces(row.places, row.turns, values), numbers: row.numbers };
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
      throw error;
    }
  }

  #keep(userId: string, { turns: count, values, places, numbers }: PackedResults): void {
    const row = {
      ...{ runId: this.#runId, userId, layout: LAYOUT, turns: count, numbers },
      values: writeValues(values),
      places: new Uint8Array(places.buffer),
    };
    const target = [packedResults.runId, packedResults.userId];
    this.#database.query.insert(packedResults).values(row).onConflictDoUpdate({ target, set: row }).run();
  }
}
