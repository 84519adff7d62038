import { and, asc, desc, eq, gt, isNotNull, isNull, lt, or, type SQL, sql } from 'drizzle-orm';
import { turnList, type TurnListRow } from './schema.ts';

/** Numbers by which lists are sorted; those that a turn does not have come last. */
export const turnSorts = {
  primaryValue: turnList.primaryValue,
  taskSuccess: turnList.taskSuccess,
  exactMatch: turnList.exactMatch,
  tokenF1: turnList.tokenF1,
  memoryRecall: turnList.memoryRecall,
  rougeL: turnList.rougeL,
  bleu: turnList.bleu,
  abstention: turnList.abstention,
  goldLogProbability: turnList.goldLogProbability,
  freeLogProbability: turnList.freeLogProbability,
  evidenceRank: turnList.evidenceRank,
  firstTokenMs: turnList.firstTokenMs,
  totalMs: turnList.totalMs,
  promptTokens: turnList.promptTokens,
  kvResidentTokens: turnList.kvResidentTokens,
  evaluatedTokens: turnList.evaluatedTokens,
  generatedTokens: turnList.generatedTokens,
} as const;

export type TurnSort = keyof typeof turnSorts;

/** The number to sort by, and the direction; by the time of writing where not set. */
export interface TurnListOrder {
  readonly sort?: TurnSort | undefined;
  readonly descending?: true | undefined;
}

/** Place of a page: behind a turn, ahead of one, or at the beginning. */
export interface TurnListPlace {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
}

/** The rows ahead of a row and behind it in an order; turns without the number come last in both directions. */
export class SortedSides {
  readonly #sort: TurnSort | undefined;
  readonly #descending: boolean;

  constructor({ sort, descending }: TurnListOrder) {
    this.#sort = sort;
    this.#descending = descending === true;
  }

  order(backwards: boolean): SQL[] {
    const id = backwards ? desc(turnList.turnId) : asc(turnList.turnId);
    if (this.#sort === undefined) return [id];
    const column = turnSorts[this.#sort];
    const isMissing = sql`${column} IS NULL`;
    return [
      backwards ? desc(isMissing) : asc(isMissing),
      this.#descending === backwards ? asc(column) : desc(column),
      id,
    ];
  }

  behind(row: TurnListRow): SQL | undefined {
    const later = gt(turnList.turnId, row.turnId);
    if (this.#sort === undefined) return later;
    const [column, value] = [turnSorts[this.#sort], row[this.#sort]];
    if (value === null) return and(isNull(column), later);
    return or(isNull(column), this.#descending ? lt(column, value) : gt(column, value), and(eq(column, value), later));
  }

  ahead(row: TurnListRow): SQL | undefined {
    const earlier = lt(turnList.turnId, row.turnId);
    if (this.#sort === undefined) return earlier;
    const [column, value] = [turnSorts[this.#sort], row[this.#sort]];
    if (value === null) return or(isNotNull(column), earlier);
    return or(this.#descending ? gt(column, value) : lt(column, value), and(eq(column, value), earlier));
  }
}
