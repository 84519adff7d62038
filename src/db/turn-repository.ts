import { and, asc, count, eq, gt, inArray, or, sql } from 'drizzle-orm';
import type { BenchDatabase } from './database.ts';
import { auditLogs, sessions, turns, type TurnRow } from './schema.ts';

/** A turn as it is written; id and time are given by the database. */
export type NewTurn = Omit<TurnRow, 'id' | 'createdAt'>;

/** The columns of a turn that results are computed from; the others hold what the model was given, token by token. */
const resultColumns = {
  id: turns.id,
  itemId: turns.itemId,
  userId: turns.userId,
  arm: turns.arm,
  repeat: turns.repeat,
  timings: turns.timings,
  tokens: turns.tokens,
  scores: turns.scores,
  answer: turns.answer,
  error: turns.error,
} as const;

/** A turn without what the model was given. */
export type ResultRow = Pick<TurnRow, keyof typeof resultColumns>;

export interface TurnFilter {
  readonly arm?: string;
  readonly userId?: string;
  readonly itemId?: string;
}

const pageSize = 200;

/** The turns of the runs. */
export class TurnRepository {
  readonly #database: BenchDatabase;
  readonly #insert;

  constructor(database: BenchDatabase) {
    this.#database = database;
    this.#insert = database.query
      .insert(turns)
      .values({
        runId: sql.placeholder('runId'),
        itemId: sql.placeholder('itemId'),
        userId: sql.placeholder('userId'),
        arm: sql.placeholder('arm'),
        repeat: sql.placeholder('repeat'),
        turn: sql.placeholder('turn'),
        position: sql.placeholder('position'),
        sessionId: sql.placeholder('sessionId'),
        promptInfo: sql.placeholder('promptInfo'),
        timings: sql.placeholder('timings'),
        tokens: sql.placeholder('tokens'),
        scores: sql.placeholder('scores'),
        memories: sql.placeholder('memories'),
        kv: sql.placeholder('kv'),
        answer: sql.placeholder('answer'),
        error: sql.placeholder('error'),
        createdAt: sql.placeholder('createdAt'),
      })
      .prepare();
  }

  /** Stores a turn and returns its id. A run holds one turn of that arm, item, repeat and number. */
  insert(turn: NewTurn): number {
    return this.#database.guard(() => Number(this.#insert.run({ ...turn, createdAt: Date.now() }).lastInsertRowid));
  }

  /** The turns of a run in the order in which they were written, read in pages: other statements may run meanwhile. */
  listByRun(runId: string, filter: TurnFilter = {}): Generator<TurnRow, void, undefined> {
    return this.#inPages((last) =>
      this.#database.query
        .select()
        .from(turns)
        .where(and(matches(runId, filter), gt(turns.id, last)))
        .orderBy(asc(turns.id))
        .limit(pageSize)
        .all(),
    );
  }

  /** As `listByRun`, with the columns that results are computed from; nothing can be written until the last was read. */
  *listForResults(runId: string, filter: TurnFilter = {}): Generator<ResultRow, void, undefined> {
    const { query } = this.#database;
    // Ids first: SQLite then reads the rows in their order, and need not sort what they hold.
    const ids = query.select({ id: turns.id }).from(turns).where(matches(runId, filter));
    const rows = query.select(resultColumns).from(turns).where(inArray(turns.id, ids)).orderBy(asc(turns.id));
    const columns = Object.entries(resultColumns);
    for (const values of this.#database.iterate(rows)) {
      const row = columns.map(([name, column], place) => {
        const value = values[place];
        return [name, value === null ? null : column.mapFromDriverValue(value)];
      });
      yield Object.fromEntries(row) as ResultRow;
    }
  }

  /** The turns of one arm on one item, by repeat and number of the turn. */
  find(runId: string, itemId: string, arm: string): TurnRow[] {
    return this.#database.guard(() =>
      this.#database.query
        .select()
        .from(turns)
        .where(matches(runId, { itemId, arm }))
        .orderBy(asc(turns.repeat), asc(turns.turn))
        .all(),
    );
  }

  /** How many turns a run holds of a user. */
  count(runId: string, userId: string): number {
    const row = this.#database.guard(() =>
      this.#database.query.select({ turns: count() }).from(turns).where(matches(runId, { userId })).get(),
    );
    return row?.turns ?? 0;
  }

  /**
   * Removes all that a run wrote for a user: turns, their sessions with messages and memories, and their audit
   * entries. What other runs wrote for that user stays. Returns the number of turns removed.
   */
  deleteUser(runId: string, userId: string): number {
    const { query } = this.#database;
    const ofUser = matches(runId, { userId });
    return this.#database.transaction(() => {
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

  /** @param pageAfter the rows behind an id, a page at most */
  *#inPages<Row extends { readonly id: number }>(pageAfter: (id: number) => Row[]): Generator<Row, void, undefined> {
    let last = 0;
    for (;;) {
      const page = this.#database.guard(() => pageAfter(last));
      yield* page;
      const end = page.at(-1);
      if (end === undefined || page.length < pageSize) return;
      last = end.id;
    }
  }
}

function matches(runId: string, { arm, userId, itemId }: TurnFilter) {
  return and(
    eq(turns.runId, runId),
    arm === undefined ? undefined : eq(turns.arm, arm),
    userId === undefined ? undefined : eq(turns.userId, userId),
    itemId === undefined ? undefined : eq(turns.itemId, itemId),
  );
}
