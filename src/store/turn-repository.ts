import { and, count, eq, getTableColumns, gt, inArray, or, type SQL, sql } from 'drizzle-orm';
import type { SelectedFields } from 'drizzle-orm/sqlite-core';
import { measuredParts, type TurnKey, type TurnRecord, turnRecord, type TurnResult } from './records/turn-record.ts';
import { type PromptInfo, promptInfo } from './records/prompt-info.ts';
import { Repository } from './database.ts';
import { unreadable } from './database-error.ts';
import { checkStoredRecord } from './check-stored-record.ts';
import { auditLogs, sessions, turnColumns, turns, type TurnRow } from './schema.ts';
import { joinTurn, listColumns, type Measures, type RunFacts, splitTurn } from './turn-row-mapping.ts';

/** A turn as it is stored, with the id that the database gave it. */
export type StoredTurn = TurnRecord & { readonly id: number };

/** The run that a turn belongs to, and the session of its messages. */
export interface TurnPlace {
  readonly runId: string;
  readonly sessionId: string;
}

interface TurnFilter {
  readonly arm?: string;
  readonly userId?: string;
  readonly itemId?: string;
}

/** Value of a metric of the calling program for one turn. */
export type OwnScore = Pick<TurnKey, 'arm' | 'itemId' | 'repeat' | 'turn'> & { readonly value: number };

/** The prompt of an answered turn, with its place in traffic. */
export interface StoredPrompt extends Pick<TurnRow, 'userId' | 'sessionId' | 'createdAt' | 'generatedTokens'> {
  readonly prompt: PromptInfo;
}

const pageSize = 200;

const keyColumns = turnColumns('id', 'state', 'itemId', 'userId', 'arm', 'repeat', 'turn', 'position');
const resultColumns = { ...keyColumns, measures: sql`${turns.measures}` };
const promptColumns = turnColumns('id', 'itemId', 'userId', 'sessionId', 'createdAt', 'generatedTokens', 'document');

type PromptRow = Pick<TurnRow, keyof typeof promptColumns>;
type ResultRow = Pick<TurnRow, keyof typeof keyColumns> & { readonly measures: string };

export class TurnRepository extends Repository {
  /** Stores a turn and returns its id. A turn that is already stored is not changed. */
  put({ runId, sessionId }: TurnPlace, turn: TurnRecord): number {
    const { state, itemId, userId, arm, repeat, turn: number, position } = turn;
    const key = { runId, sessionId, state, itemId, userId, arm, repeat, turn: number, position };
    return this.database.guard((query) => {
      const row = { ...listColumns(turn, this.#runFacts(runId)), ...splitTurn(turn), ...key, createdAt: Date.now() };
      query.insert(turns).values(row).onConflictDoNothing().run();
      return query.select({ id: turns.id }).from(turns).where(oneTurn(runId, turn)).get()!.id;
    });
  }

  #runFacts(runId: string): RunFacts {
    const [run] = this.query<{ primaryMetric: string | null; parity: string | null }>(
      sql`SELECT dataset ->> '$.primaryMetric' AS primaryMetric, probes -> '$.parity' AS parity
        FROM runs WHERE id = ${runId}`,
    );
    return {
      primaryMetric: run?.primaryMetric ?? 'exactMatch',
      parity: JSON.parse(run?.parity ?? 'null') as RunFacts['parity'],
    };
  }

  /** The turns of a run in the order of writing, read in pages. @throws BenchError `database` for an unreadable turn */
  *listByRun(runId: string, filter: TurnFilter = {}): Generator<StoredTurn, void, undefined> {
    for (const row of this.#pages<TurnRow>(getTableColumns(turns), runId, filter)) yield storedTurn(row);
  }

  /** Like `listByRun`, but only the parts that results are computed from. @throws BenchError as `listByRun` */
  *listForResults(runId: string, filter: TurnFilter = {}): Generator<TurnResult, void, undefined> {
    for (const { id: _, measures, ...key } of this.#pages<ResultRow>(resultColumns, runId, filter)) {
      yield { ...key, ...parseMeasures(measures, this.database.path, key) } as TurnResult;
    }
  }

  /** The prompts of an arm's answered turns in the order of writing. @throws BenchError as `listByRun` */
  *listPrompts(runId: string, arm: string): Generator<StoredPrompt, void, undefined> {
    for (const { itemId, document, ...row } of this.#pages<PromptRow>(promptColumns, runId, { arm })) {
      if (document === null) continue;
      const prompt = checkStoredRecord(promptInfo, document.prompt, `the prompt of item ${itemId}, arm ${arm}`);
      yield { ...row, prompt };
    }
  }

  /** Rows in the order of writing, each page read by the id of the last row before it. */
  *#pages<Row extends { readonly id: number }>(columns: SelectedFields, runId: string, filter: TurnFilter) {
    for (let last = 0; ;) {
      const where = and(runTurns(runId, filter), gt(turns.id, last));
      const page = this.database.guard((query) =>
        query.select(columns).from(turns).where(where).orderBy(turns.id).limit(pageSize).all(),
      ) as unknown as Row[];
      yield* page;
      if (page.length < pageSize) return;
      last = page.at(-1)!.id;
    }
  }

  /** The turns of one arm on one item, sorted by repeat and turn. @throws BenchError as `listByRun` */
  find(runId: string, itemId: string, arm: string): StoredTurn[] {
    const where = runTurns(runId, { itemId, arm });
    const rows = this.select(turns, where).sort((a, b) => a.repeat - b.repeat || a.turn - b.turn);
    return rows.map(storedTurn);
  }

  /** Adds a metric's values to stored turns, for metrics that are computed from all turns. */
  putOwnScores(runId: string, metric: string, values: readonly OwnScore[]): void {
    this.database.transaction((query) => {
      for (const { value, ...key } of values) {
        const measures = sql`json_set(${turns.measures}, ${`$.scores.own.${metric}`}, ${value})`;
        query.update(turns).set({ measures }).where(oneTurn(runId, key)).run();
      }
    });
  }

  countByUser(runId: string, userId?: string): Map<string, number> {
    const where = runTurns(runId, userId === undefined ? {} : { userId });
    const rows = this.database.guard((query) =>
      query.select({ userId: turns.userId, turns: count() }).from(turns).where(where).groupBy(turns.userId).all(),
    );
    return new Map(rows.map((row) => [row.userId, row.turns]));
  }

  /** Removes turns, sessions and audit entries that a run wrote for a user. @returns the number of turns */
  deleteUser(runId: string, userId: string): number {
    const userTurns = runTurns(runId, { userId });
    return this.database.transaction((query) => {
      const turnSessions = query.select({ id: turns.sessionId }).from(turns).where(userTurns);
      // The second condition finds sessions whose turn was never written.
      const userSessions = or(
        inArray(sessions.id, turnSessions),
        and(eq(sessions.runId, runId), eq(sessions.userId, userId)),
      );
      const ids = query.select({ id: sessions.id }).from(sessions).where(userSessions).all();
      for (const { id } of ids) {
        query.delete(auditLogs).where(eq(auditLogs.sessionId, id)).run();
        query.delete(sessions).where(eq(sessions.id, id)).run();
      }
      return query.delete(turns).where(userTurns).run().changes;
    });
  }
}

function storedTurn({ measures, document, ...row }: TurnRow): StoredTurn {
  const turn = { ...row, ...(measures !== null && joinTurn(measures, document)) };
  return { ...checkStoredRecord(turnRecord, turn, `the turn of item ${row.itemId}, arm ${row.arm}`), id: row.id };
}

function parseMeasures(
  measures: string,
  path: string,
  { arm, itemId, state }: Pick<TurnRow, 'arm' | 'itemId' | 'state'>,
): Measures {
  const refuse = (why: string, cause: unknown): never => {
    throw unreadable(path, `the turn of ${arm} on item ${JSON.stringify(itemId)}: ${why}`, cause);
  };
  let value: unknown;
  try {
    value = JSON.parse(measures);
  } catch (error) {
    return refuse((error as Error).message, error);
  }
  const read = measuredParts[state].safeParse(value);
  if (read.success) return value as Measures;
  const [issue] = read.error.issues;
  return refuse(`${issue!.path.join('.')}: ${issue!.message}`, read.error);
}

function runTurns(runId: string, { arm, userId, itemId }: TurnFilter): SQL | undefined {
  return and(
    eq(turns.runId, runId),
    // `+` keeps SQLite from using the index on the arm, which is not in the order of writing.
    arm === undefined ? undefined : sql`+${turns.arm} = ${arm}`,
    userId === undefined ? undefined : eq(turns.userId, userId),
    itemId === undefined ? undefined : eq(turns.itemId, itemId),
  );
}

function oneTurn(runId: string, { arm, itemId, repeat, turn }: Omit<OwnScore, 'value'>): SQL {
  return sql`run_id = ${runId} AND arm = ${arm} AND item_id = ${itemId} AND repeat = ${repeat} AND turn = ${turn}`;
}
