import { asc, inArray, type SQL, sql } from 'drizzle-orm';
import type { AnsweredTurn, FailedTurn } from './records/turn-record.ts';
import type { AnsweredResult, TurnResult } from './records/turn-result.ts';
import type { BenchDatabase } from './database.ts';
import { unreadable } from './database-error.ts';
import { turns } from './schema.ts';

const columns = {
  state: turns.state,
  itemId: turns.itemId,
  userId: turns.userId,
  arm: turns.arm,
  repeat: turns.repeat,
  turn: turns.turn,
  position: turns.position,
  item: turns.item,
  facts: turns.facts,
  account: turns.account,
  answer: sql`${turns.answer} ->> '$.text'`,
  timings: turns.timings,
  tokens: turns.tokens,
  scores: turns.scores,
  observed: turns.observed,
  error: turns.error,
  retrieval: sql`${turns.given} -> '$.retrieval'`,
  sizeBytes: sql`${turns.prefill} ->> '$.sizeBytes'`,
  memoryLines: sql`${turns.prefill} -> '$.memoryLines'`,
} as const;

/** Values in the order of the columns, as SQLite has them. */
type Values = readonly [
  state: 'answered' | 'failed',
  itemId: string,
  userId: string,
  arm: string,
  repeat: number,
  turn: number,
  position: number,
  item: string,
  facts: string,
  account: string,
  answer: string,
  timings: string,
  tokens: string,
  scores: string,
  observed: string,
  error: string,
  retrieval: string,
  sizeBytes: number | null,
  memoryLines: string | null,
];

/**
 * The turns that match, in the order of writing, as far as results are computed from them. Turns of an item, which are
 * written one after the other, hold one copy of what is equal in them, so that a long run fits into memory.
 */
export function* resultTurns(
  database: BenchDatabase,
  matching: SQL | undefined,
): Generator<TurnResult, void, undefined> {
  const { query } = database;
  // Ids first: SQLite then reads the rows in their order, and need not sort what they hold.
  const ids = query.select({ id: turns.id }).from(turns).where(matching);
  const rows = query.select(columns).from(turns).where(inArray(turns.id, ids)).orderBy(asc(turns.id));
  const names = new Shared();
  let ofItem = new Shared();
  let itemId = '';
  for (const values of database.iterate(rows)) {
    const row = values as unknown as Values;
    if (row[1] !== itemId) {
      ofItem = new Shared();
      itemId = row[1];
    }
    yield readable(database.path, row, () => resultTurn(row, names, ofItem));
  }
}

/** Turns what a damaged document does into an error that names its turn. */
function readable<T>(path: string, [, itemId, , arm]: Values, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { message } = error as Error;
    throw unreadable(path, `the turn of ${arm} on item ${JSON.stringify(itemId)}: ${message}`, error);
  }
}

function resultTurn(values: Values, names: Shared, ofItem: Shared): TurnResult {
  const [state, itemId, userId, arm, repeat, turn, position, ...groups] = values;
  const key = { itemId: ofItem.text(itemId), userId: names.text(userId), arm: names.text(arm), repeat, turn, position };
  const [item, facts, account, answer, timings, tokens, scores, observed, error, retrieval, sizeBytes, memoryLines] =
    groups;
  if (state === 'failed') return { state, ...key, error: ofItem.parsed(error) as FailedTurn['error'] };
  const scored = JSON.parse(scores) as AnsweredTurn['scores'];
  // Texts that no table shows, ten and more a turn.
  const { goldTokens, nextTokens: _, ...measured } = JSON.parse(observed) as AnsweredTurn['observed'];
  return {
    state,
    ...key,
    item: ofItem.parsed(item, withAllFields) as AnsweredTurn['item'],
    facts: ofItem.parsed(facts) as AnsweredTurn['facts'],
    account: ofItem.parsed(account) as AnsweredTurn['account'],
    answer: { text: ofItem.text(answer) },
    timings: JSON.parse(timings) as AnsweredTurn['timings'],
    tokens: ofItem.parsed(tokens) as AnsweredTurn['tokens'],
    scores: {
      ...scored,
      contains: scored.contains ?? null,
      locomoF1: scored.locomoF1 ?? null,
      passedStages: ofItem.value(scored.passedStages),
    },
    observed: {
      ...measured,
      goldTokens: { length: goldTokens.length },
      sequenceSha256: ofItem.text(measured.sequenceSha256),
      parity: ofItem.value(measured.parity),
      agreement: ofItem.value(measured.agreement),
    },
    given: ofItem.parsed(`{"retrieval":${retrieval}}`) as AnsweredResult['given'],
    prefill: sizeBytes === null ? null : { sizeBytes, ...(memoryLines === null ? {} : linesOf(ofItem, memoryLines)) },
  };
}

function linesOf(ofItem: Shared, memoryLines: string): Pick<NonNullable<AnsweredResult['prefill']>, 'memoryLines'> {
  return ofItem.parsed(`{"memoryLines":${memoryLines}}`) as Pick<NonNullable<AnsweredResult['prefill']>, 'memoryLines'>;
}

/** Items of older runs lack the fields that were added since. */
function withAllFields(item: unknown): unknown {
  return { acceptedAnswers: [], relation: null, answerPrefix: null, ...(item as Partial<AnsweredTurn['item']>) };
}

/** One copy of each text and of each document. */
class Shared {
  readonly #texts = new Map<string, string>();
  readonly #documents = new Map<string, unknown>();

  text(text: string): string {
    const known = this.#texts.get(text);
    if (known === undefined) this.#texts.set(text, text);
    return known ?? text;
  }

  /** The document of a JSON text. */
  parsed(json: string, read: (document: unknown) => unknown = (document) => document): unknown {
    if (!this.#documents.has(json)) this.#documents.set(json, read(JSON.parse(json)));
    return this.#documents.get(json);
  }

  value<Value>(value: Value): Value {
    const json = JSON.stringify(value);
    if (!this.#documents.has(json)) this.#documents.set(json, value);
    return this.#documents.get(json) as Value;
  }
}
