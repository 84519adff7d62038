import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { and, asc, count, eq, isNotNull, sql } from 'drizzle-orm';
import { BenchError } from '../../base/bench-error.ts';
import { onceFor } from '../../base/once-for.ts';
import type { BenchDatabase } from '../database.ts';
import { layoutName } from '../layout-name.ts';
import { rowsOfRun } from '../rows-of-run.ts';
import { turnIndexParts, turnList } from '../schema.ts';
import { turnSorts } from '../turn-list-order.ts';
import { type IndexedTurn, indexParts, sortNames } from './index-parts.ts';
import { partNames, storedParts, writtenParts } from './stored-parts.ts';
import { TurnIndex } from './turn-index.ts';

/** A walk over fewer rows takes SQLite a few milliseconds. */
const LEAST_TURNS = 10_000;
/** Indexes that a connection keeps: two runs are compared. */
const MOST_KEPT = 2;

/** Marks an index that is being made. */
const DRAFT = 'draft';
/** Marks one that is stored. */
const WHOLE = 'whole';

const marks = {
  arm: turnList.arm,
  category: turnList.category,
  wrongClass: turnList.wrongClass,
  failedStage: turnList.failedStage,
  cache: turnList.cache,
  failedChecks: turnList.failedChecks,
  truncated: turnList.truncated,
  disagreeing: turnList.disagreeing,
  failed: isNotNull(turnList.error),
};

const columns = {
  turnId: turnList.turnId,
  itemId: turnList.itemId,
  userId: turnList.userId,
  question: turnList.question,
  gold: turnList.gold,
  answer: turnList.answer,
  ...marks,
  ...Object.fromEntries(sortNames.map((name) => [`by ${name}`, sql`${turnSorts[name]}`])),
};

/** Names what an index of this release has: that of another is none. */
const LAYOUT = layoutName([Object.keys(marks), sortNames, partNames]);

/** Values in the order of the columns, as SQLite has them. */
type Values = readonly [
  turnId: number,
  itemId: string,
  userId: string,
  question: string | null,
  gold: string | null,
  answer: string,
  arm: string,
  category: string | null,
  wrongClass: string | null,
  failedStage: string | null,
  cache: string | null,
  failedChecks: string | null,
  truncated: 0 | 1,
  disagreeing: 0 | 1,
  failed: 0 | 1,
  ...numbers: (number | null)[],
];

function indexedTurn(values: Values): IndexedTurn {
  const [turnId, itemId, userId, question, gold, answer, arm, category, ...others] = values;
  const [wrongClass, failedStage, cache, failedChecks, truncated, disagreeing, failed, ...numbers] = others;
  const taskSuccess = numbers[sortNames.indexOf('taskSuccess')] ?? null;
  return {
    ...{ turnId, itemId, userId, question, gold, answer, numbers },
    kind: {
      ...{ arm, category, wrongClass, failedStage, cache, failedChecks },
      answer: taskSuccess === null ? null : taskSuccess < 1 ? 'wrong' : 'right',
      truncated: truncated === 1,
      disagreeing: disagreeing === 1,
      failed: failed === 1,
    },
  };
}

/** Indexes of the turns of runs that have ended: lists of a run without one walk over its rows. */
export class TurnIndexRepository {
  readonly #database: BenchDatabase;

  constructor(database: BenchDatabase) {
    this.#database = database;
  }

  /** The index of a run; undefined where none was made, or by another release, and where the run was changed since. */
  find(runId: string): TurnIndex | undefined {
    const kept = keptBy(this.#database);
    const known = kept.get(runId);
    kept.delete(runId);
    const made = this.#made(runId);
    if (made === undefined) return undefined;
    const isCurrent = known?.made === made;
    const index = isCurrent ? known.index : new TurnIndex(storedParts((name) => this.#part(runId, name)));
    const [oldest] = kept.keys();
    if (oldest !== undefined && kept.size === MOST_KEPT) kept.delete(oldest);
    kept.set(runId, { made, index });
    return index;
  }

  /**
   * Makes the index of a run of many turns that has none; of one that is changed meanwhile, and where it cannot be stored, there is none. The
   * database is locked only while the index is stored.
   * @param least turns of a run that gets one
   */
  make(runId: string, least = LEAST_TURNS): void {
    if (this.#made(runId) !== undefined) return;
    try {
      this.#make(runId, least);
    } catch (error) {
      // It is a copy: lists walk over the rows.
      if (!(error instanceof BenchError)) throw error;
    }
  }

  #make(runId: string, least: number): void {
    const made = new Uint8Array(Buffer.from(`${LAYOUT} ${randomUUID()}`));
    const begun = this.#database.transaction(() => {
      const ofRun = rowsOfRun(this.#database, runId);
      const { query } = this.#database;
      const row = query.select({ turns: count() }).from(turnList).where(eq(turnList.runId, runId)).get();
      if (ofRun === undefined || row === undefined || row.turns < least) return undefined;
      // A change of the run deletes it.
      this.#store(runId, [[DRAFT, made]]);
      return {
        turns: row.turns,
        rows: query.select(columns).from(turnList).where(ofRun).orderBy(asc(turnList.turnId)),
      };
    });
    if (begun === undefined) return;
    const parts = indexParts(indexedTurns(this.#database.iterate(begun.rows)), begun.turns);
    this.#database.transaction(() => {
      if (!isDeepStrictEqual(this.#read(runId, DRAFT), made)) return;
      this.#store(runId, [...writtenParts(parts), [WHOLE, made]]);
    });
  }

  /** Names the index of a run; undefined without one of this release. */
  #made(runId: string): string | undefined {
    const whole = this.#read(runId, WHOLE);
    const made = whole === undefined ? undefined : Buffer.from(whole).toString();
    return made?.startsWith(LAYOUT) === true ? made : undefined;
  }

  /** Stores these parts in place of all that a run has. */
  #store(runId: string, parts: Iterable<readonly [name: string, data: Uint8Array<ArrayBuffer>]>): void {
    const { query } = this.#database;
    this.#database.transaction(() => {
      query.delete(turnIndexParts).where(eq(turnIndexParts.runId, runId)).run();
      for (const [name, data] of parts) query.insert(turnIndexParts).values({ runId, name, data }).run();
    });
  }

  /** @throws BenchError `bad-state` where it is gone: the run was changed while a page was read */
  #part(runId: string, name: string): Uint8Array<ArrayBuffer> {
    const part = this.#read(runId, name);
    if (part !== undefined) return part;
    throw new BenchError('bad-state', `run ${runId} was changed while its list was read`, 'load the page again');
  }

  #read(runId: string, name: string): Uint8Array<ArrayBuffer> | undefined {
    const one = and(eq(turnIndexParts.runId, runId), eq(turnIndexParts.name, name));
    return this.#database.guard(() =>
      this.#database.query.select({ data: turnIndexParts.data }).from(turnIndexParts).where(one).get(),
    )?.data;
  }
}

function* indexedTurns(rows: Iterable<unknown[]>): Generator<IndexedTurn, void, undefined> {
  for (const row of rows) yield indexedTurn(row as unknown as Values);
}

interface Kept {
  readonly made: string;
  readonly index: TurnIndex;
}

/** The indexes that a connection has opened, by run, the one that was asked for last at the end. */
const keptBy = onceFor<BenchDatabase, Map<string, Kept>>(() => new Map());
