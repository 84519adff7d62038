import { and, asc, count, eq, gt, inArray, or, type SQL, sql } from 'drizzle-orm';
import { type TurnRecord, turnRecord, type TurnResult } from './records/turn-record.ts';
import { Repository } from './database.ts';
import { unreadable } from './database-error.ts';
import { readRecord } from './read-record.ts';
import { auditLogs, runs, sessions, turns, type TurnRow } from './schema.ts';
import { joinTurn, listColumns, type Measures, type RunFacts, splitTurn } from './turn-parts.ts';

/** A turn as it is stored, with the id that the database gave it. */
export type StoredTurn = TurnRecord & { readonly id: number };

/** The run that a turn belongs to, and the session of its messages. */
export interface TurnPlace {
  readonly runId: string;
  readonly sessionId: string;
}

export interface TurnFilter {
  readonly arm?: string;
  readonly userId?: string;
  readonly itemId?: string;
}

/** The value of a metric on one turn of a run. */
export interface OwnScore {
  readonly arm: string;
  readonly itemId: string;
  readonly repeat: number;
  readonly turn: number;
  readonly value: number;
}

const pageSize = 200;

const resultColumns = {
  id: turns.id,
  state: turns.state,
  itemId: turns.itemId,
  userId: turns.userId,
  arm: turns.arm,
  repeat: turns.repeat,
  turn: turns.turn,
  position: turns.position,
  measures: sql<string>`${turns.measures}`,
};

/** The turns of the runs. */
export class TurnRepository extends Repository {
  /**
   * Stores a turn as soon as it is answered, and returns its id. Run, arm, item, repeat and turn identify it: one that is stored
   * already stays as it is.
   */
  put({ runId, sessionId }: TurnPlace, turn: TurnRecord): number {
    const { state, itemId, userId, arm, repeat, turn: number, position } = turn;
    const key = { state, itemId, userId, arm, repeat, turn: number, position };
    return this.database.guard(() => {
      const { query } = this.database;
      const row = { ...key, ...listColumns(turn, this.#runFacts(runId)), ...splitTurn(turn) };
      query
        .insert(turns)
        .values({ ...row, runId, sessionId, createdAt: Date.now() })
        .onConflictDoNothing()
        .run();
      return query.select({ id: turns.id }).from(turns).where(oneTurn(runId, turn)).get()!.id;
    });
  }

  #runFacts(runId: string): RunFacts {
    const { dataset, probes } = runs;
    const run = this.database.query
      .select({
        primaryMetric: sql<string | null>`${dataset} ->> '$.primaryMetric'`,
        parity: sql<string | null>`${probes} -> '$.parity'`,
      })
      .from(runs)
      .where(eq(runs.id, runId))
      .get();
    return {
      primaryMetric: run?.primaryMetric ?? 'exactMatch',
      parity: JSON.parse(run?.parity ?? 'null') as RunFacts['parity'],
    };
  }

  /**
   * The turns of a run in the order in which they were written, read in pages: other statements may run meanwhile.
   * @throws BenchError `database` where a turn is not as this program writes it
   */
  *listByRun(runId: string, filter: TurnFilter = {}): Generator<StoredTurn, void, undefined> {
    for (let last = 0; ;) {
      const page = this.database.guard((query) =>
        query
          .select()
          .from(turns)
          .where(and(ofRun(runId, filter), gt(turns.id, last)))
          .orderBy(asc(turns.id))
          .limit(pageSize)
          .all(),
      );
      yield* page.map(storedTurn);
      if (page.length < pageSize) return;
      last = page.at(-1)!.id;
    }
  }

  /**
   * Like `listByRun`, but only the parts that results are computed from.
   * @throws BenchError `database` where a turn cannot be read
   */
  *listForResults(runId: string, filter: TurnFilter = {}): Generator<TurnResult, void, undefined> {
    for (let last = 0; ;) {
      const page = this.database.guard((query) =>
        query
          .select(resultColumns)
          .from(turns)
          .where(and(ofRun(runId, filter), gt(turns.id, last)))
          .orderBy(asc(turns.id))
          .limit(pageSize)
          .all(),
      );
      for (const { id: _, measures, ...key } of page) {
        yield { ...key, ...parsed(measures, this.database.path, key) } as TurnResult;
      }
      if (page.length < pageSize) return;
      last = page.at(-1)!.id;
    }
  }

  /**
   * The turns of one arm on one item, by repeat and number of the turn.
   * @throws BenchError `database` where a turn is not as this program writes it
   */
  find(runId: string, itemId: string, arm: string): StoredTurn[] {
    const rows = this.database.guard((query) =>
      query.select().from(turns).where(ofRun(runId, { itemId, arm })).orderBy(asc(turns.repeat), asc(turns.turn)).all(),
    );
    return rows.map(storedTurn);
  }

  /** Adds values of a metric to stored turns: those that are known only when all turns are there. */
  putOwnScores(runId: string, metric: string, values: readonly OwnScore[]): void {
    const set = {
      measures: sql`json_set(${turns.measures}, ${`$.scores.own.${metric}`}, ${sql.placeholder('value')})`,
    };
    this.database.transaction(() => {
      for (const { value, ...key } of values) {
        this.database.query.update(turns).set(set).where(oneTurn(runId, key)).prepare().run({ value });
      }
    });
  }

  /** The number of turns that a run holds of a user. */
  count(runId: string, userId: string): number {
    return this.countByUser(runId, userId).get(userId) ?? 0;
  }

  /** The number of turns that a run holds of each user, or of one; users without turns are not in it. */
  countByUser(runId: string, userId?: string): Map<string, number> {
    const rows = this.database.guard((query) =>
      query
        .select({ userId: turns.userId, turns: count() })
        .from(turns)
        .where(ofRun(runId, userId === undefined ? {} : { userId }))
        .groupBy(turns.userId)
        .all(),
    );
    return new Map(rows.map((row) => [row.userId, row.turns]));
  }

  /**
   * Removes all that a run wrote for a user: turns, their sessions with messages and memories, and their audit
   * entries. What other runs wrote for that user stays. Returns the number of turns removed.
   */
  deleteUser(runId: string, userId: string): number {
    const { query } = this.database;
    const ofUser = ofRun(runId, { userId });
    return this.database.transaction(() => {
      const sessionsOfUser = query
        .select({ id: sessions.id })
        .from(sessions)
        .where(
          or(
            inArray(sessions.id, query.select({ id: turns.sessionId }).from(turns).where(ofUser)),
            // Made for a turn that was never written.
            and(eq(sessions.runId, runId), eq(sessions.userId, userId)),
          ),
        )
        .all()
        .map(({ id }) => id);
      for (const id of sessionsOfUser) {
        query.delete(auditLogs).where(eq(auditLogs.sessionId, id)).run();
        query.delete(sessions).where(eq(sessions.id, id)).run();
      }
      return query.delete(turns).where(ofUser).run().changes;
    });
  }
}

function storedTurn({ measures, document, ...row }: TurnRow): StoredTurn {
  const turn = { ...row, ...joinTurn(measures!, document) };
  return { ...readRecord(turnRecord, turn, `the turn of item ${row.itemId}, arm ${row.arm}`), id: row.id };
}

function parsed(measures: string, path: string, { arm, itemId }: Pick<TurnRow, 'arm' | 'itemId'>): Measures {
  try {
    return JSON.parse(measures) as Measures;
  } catch (error) {
    throw unreadable(path, `the turn of ${arm} on item ${JSON.stringify(itemId)}: ${(error as Error).message}`, error);
  }
}

function ofRun(runId: string, { arm, userId, itemId }: TurnFilter): SQL | undefined {
  return and(
    eq(turns.runId, runId),
    // An index on the arm would not give the order of writing, hence the `+`.
    arm === undefined ? undefined : sql`+${turns.arm} = ${arm}`,
    userId === undefined ? undefined : eq(turns.userId, userId),
    itemId === undefined ? undefined : eq(turns.itemId, itemId),
  );
}

function oneTurn(runId: string, { arm, itemId, repeat, turn }: Omit<OwnScore, 'value'>): SQL | undefined {
  return and(
    eq(turns.runId, runId),
    eq(turns.arm, arm),
    eq(turns.itemId, itemId),
    eq(turns.repeat, repeat),
    eq(turns.turn, turn),
  );
}
