import { and, asc, count, eq, gt, inArray, or, sql } from 'drizzle-orm';
import { type TurnRecord, turnRecord } from './records/turn-record.ts';
import type { TurnResult } from './records/turn-result.ts';
import { auditLogs, sessions } from './conversation-schema.ts';
import type { BenchDatabase } from './database.ts';
import { readRecord } from './read-record.ts';
import { resultTurns } from './result-turns.ts';
import { turns, type TurnRow } from './schema.ts';

/** A turn as it is stored, with the id that the database gave it. */
export type StoredTurn = TurnRecord & { readonly id: number };

/** The run that a turn belongs to, and the session that its messages and memories stand in. */
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
export interface OwnScore extends Required<Pick<TurnFilter, 'arm' | 'itemId'>> {
  readonly repeat: number;
  readonly turn: number;
  readonly value: number;
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
        sessionId: sql.placeholder('sessionId'),
        state: sql.placeholder('state'),
        itemId: sql.placeholder('itemId'),
        userId: sql.placeholder('userId'),
        arm: sql.placeholder('arm'),
        repeat: sql.placeholder('repeat'),
        turn: sql.placeholder('turn'),
        position: sql.placeholder('position'),
        createdAt: sql.placeholder('createdAt'),
        item: sql.placeholder('item'),
        facts: sql.placeholder('facts'),
        account: sql.placeholder('account'),
        answer: sql.placeholder('answer'),
        timings: sql.placeholder('timings'),
        tokens: sql.placeholder('tokens'),
        scores: sql.placeholder('scores'),
        observed: sql.placeholder('observed'),
        error: sql.placeholder('error'),
        given: sql.placeholder('given'),
        prefill: sql.placeholder('prefill'),
        prompt: sql.placeholder('prompt'),
      })
      .prepare();
  }

  /** Stores a turn and returns its id. A run holds one turn of that arm, item, repeat and number. */
  insert(place: TurnPlace, turn: TurnRecord): number {
    const row = { ...noColumns, ...turn, ...place, createdAt: Date.now() };
    return this.#database.guard(() => Number(this.#insert.run(row).lastInsertRowid));
  }

  /**
   * The turns of a run in the order in which they were written, read in pages: other statements may run meanwhile.
   * @throws BenchError `database` where a turn is not as this program writes it
   */
  *listByRun(runId: string, filter: TurnFilter = {}): Generator<StoredTurn, void, undefined> {
    for (let last = 0; ;) {
      const page = this.#database.guard(() =>
        this.#database.query
          .select()
          .from(turns)
          .where(and(ofRun(runId, filter), gt(turns.id, last)))
          .orderBy(asc(turns.id))
          .limit(pageSize)
          .all(),
      );
      yield* page.map(storedTurn);
      const end = page.at(-1);
      if (end === undefined || page.length < pageSize) return;
      last = end.id;
    }
  }

  /**
   * As `listByRun`, the parts alone that results are computed from, and as they are stored: for runs of 100,000 turns.
   * Nothing can be written until the last was read.
   */
  listForResults(runId: string, filter: TurnFilter = {}): Generator<TurnResult, void, undefined> {
    return resultTurns(this.#database, ofRun(runId, filter));
  }

  /**
   * The turns of one arm on one item, by repeat and number of the turn.
   * @throws BenchError `database` where a turn is not as this program writes it
   */
  find(runId: string, itemId: string, arm: string): StoredTurn[] {
    const rows = this.#database.guard(() =>
      this.#database.query
        .select()
        .from(turns)
        .where(ofRun(runId, { itemId, arm }))
        .orderBy(asc(turns.repeat), asc(turns.turn))
        .all(),
    );
    return rows.map(storedTurn);
  }

  /** Puts values of a metric into turns that are written: those that are known only when all turns are there. */
  putOwnScores(runId: string, metric: string, values: readonly OwnScore[]): void {
    this.#database.transaction(() => {
      for (const { value, ...place } of values) {
        this.#database.query
          .update(turns)
          .set({ scores: sql`json_set(${turns.scores}, ${`$.own.${metric}`}, ${value})` })
          .where(and(ofRun(runId, place), eq(turns.repeat, place.repeat), eq(turns.turn, place.turn)))
          .run();
      }
    });
  }

  /** The number of turns that a run holds of a user. */
  count(runId: string, userId: string): number {
    const row = this.#database.guard(() =>
      this.#database.query.select({ turns: count() }).from(turns).where(ofRun(runId, { userId })).get(),
    );
    return row?.turns ?? 0;
  }

  /** The number of turns that a run holds of each user; of a user without any, none. */
  countByUser(runId: string): Map<string, number> {
    const rows = this.#database.guard(() =>
      this.#database.query
        .select({ userId: turns.userId, turns: count() })
        .from(turns)
        .where(eq(turns.runId, runId))
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
    const { query } = this.#database;
    const ofUser = ofRun(runId, { userId });
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
}

/** The groups of a record that one of its states does not have. */
const noColumns = {
  item: null,
  facts: null,
  account: null,
  answer: null,
  timings: null,
  tokens: null,
  scores: null,
  observed: null,
  error: null,
  given: null,
  prefill: null,
  prompt: null,
};

function storedTurn(row: TurnRow): StoredTurn {
  const turn = readRecord(turnRecord, row, `the turn of item ${row.itemId}, arm ${row.arm}`);
  return { ...turn, id: row.id };
}

function ofRun(runId: string, { arm, userId, itemId }: TurnFilter) {
  return and(
    eq(turns.runId, runId),
    arm === undefined ? undefined : eq(turns.arm, arm),
    userId === undefined ? undefined : eq(turns.userId, userId),
    itemId === undefined ? undefined : eq(turns.itemId, itemId),
  );
}
