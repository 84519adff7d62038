import { sql } from 'drizzle-orm';
import { numbered } from '../base/numbered.ts';
import type { BenchDatabase } from './database.ts';
import { knownAnswers } from './known-answers.ts';
import { type ItemPairScores, pairMarks } from './item-pair-scores.ts';
import { indexedPairs } from './turn-index/indexed-pairs.ts';
import { TurnIndexRepository } from './turn-index/turn-index-repository.ts';

/** The turns of one arm in one run. */
export interface ArmOfRun {
  readonly runId: string;
  readonly arm: string;
}

/** One arm's side of an item: means are over repeats, the answer is that of the first turn; long texts are cut. */
export interface ItemSide {
  readonly repeat: number;
  readonly turn: number;
  readonly success: number | null;
  readonly repeats: number;
  readonly answer: string;
  readonly error: string | null;
}

/** An item that two arms answered, as a list shows it. */
export interface ItemPair {
  readonly itemId: string;
  readonly question: string | null;
  readonly gold: string | null;
  readonly a: ItemSide;
  readonly b: ItemSide;
}

/** In the order of the columns: arrays are read twice as fast as objects. */
type ScoresRow = [
  userId: string,
  turnA: number,
  turnB: number,
  successA: number | null,
  successB: number | null,
  marks: number,
];

interface ShownTurn extends ItemSide {
  readonly turnId: number;
  readonly itemId: string;
  readonly question: string | null;
  readonly gold: string | null;
}

const shownCharacters = 300;

/** Two arms item by item, of one run or of two, from the narrow rows of the turns. */
export class ItemPairRepository {
  readonly #database: BenchDatabase;
  readonly #indexes: TurnIndexRepository;

  constructor(database: BenchDatabase) {
    this.#database = database;
    this.#indexes = new TurnIndexRepository(database);
  }

  /** All items that both have, in the order of A's first turns. */
  scores(a: ArmOfRun, b: ArmOfRun): ItemPairScores {
    const [indexA, indexB] = [this.#indexes.find(a.runId), this.#indexes.find(b.runId)];
    if (indexA !== undefined && indexB !== undefined) return indexedPairs(indexA.sideOf(a.arm), indexB.sideOf(b.arm));
    // Each turn of an item meets each of the other arm: the means stay what they are. The index on run, arm and item gives
    // both sides, without a table in between; the first of CROSS JOIN is the outer loop.
    const rows = this.#database.guard(() =>
      this.#database.query.values<ScoresRow>(sql`
        SELECT first.user_id, first_id, second_id, success_a, success_b, ${pairMarks.single} * (meetings = 1)
          + ${pairMarks.sameAnswer} * (first.answer = second.answer)
          + ${pairMarks.sameGold} * (first.gold_log_probability IS second.gold_log_probability)
        FROM (
          SELECT min(a.turn_id) AS first_id, min(b.turn_id) AS second_id, avg(a.task_success) AS success_a,
            avg(b.task_success) AS success_b, count(*) AS meetings
          FROM turn_list AS a CROSS JOIN turn_list AS b ON b.item_id = a.item_id
          WHERE a.run_id = ${a.runId} AND a.arm = ${a.arm} AND b.run_id = ${b.runId} AND b.arm = ${b.arm}
          GROUP BY a.item_id
        ) CROSS JOIN turn_list AS first ON first.turn_id = first_id CROSS JOIN turn_list AS second ON second.turn_id = second_id
        ORDER BY first_id`),
    );
    const users = numbered(rows.map(([userId]) => userId));
    return {
      itemsA: this.#items(a),
      itemsB: this.#items(b),
      userIds: users.sorted,
      userOf: users.numbers,
      turnA: Float64Array.from(rows, ([, turn]) => turn),
      turnB: Float64Array.from(rows, ([, , turn]) => turn),
      successA: Float64Array.from(rows, ([, , , success]) => success ?? NaN),
      successB: Float64Array.from(rows, ([, , , , success]) => success ?? NaN),
      marks: Uint8Array.from(rows, ([, , , , , marks]) => marks),
    };
  }

  /**
   * Pairs as a list shows them, in their order.
   * @param ids of the first turns of each, A and B in turn
   */
  shown(ids: readonly number[]): ItemPair[] {
    const ofItem = sql`FROM turn_list AS one
      WHERE one.run_id = shown.run_id AND one.arm = shown.arm AND one.item_id = shown.item_id`;
    const turns = this.#database.guard(() =>
      this.#database.query.all<ShownTurn>(sql`
        SELECT turn_id AS turnId, item_id AS itemId, repeat, turn, substr(question, 1, ${shownCharacters}) AS question,
          substr(gold, 1, ${shownCharacters}) AS gold, substr(answer, 1, ${shownCharacters}) AS answer, substr(error, 1, ${shownCharacters}) AS error,
          (SELECT count(*) ${ofItem}) AS repeats, (SELECT avg(task_success) ${ofItem}) AS success
        FROM turn_list AS shown WHERE turn_id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`),
    );
    const byId = new Map(turns.map((turn) => [turn.turnId, turn]));
    return ids.flatMap((id, place) => {
      if (place % 2 === 1) return [];
      const [a, b] = [byId.get(id)!, byId.get(ids[place + 1]!)!];
      // A failed turn keeps no question, and no gold.
      return { itemId: a.itemId, question: a.question ?? b.question, gold: a.gold ?? b.gold, a, b };
    });
  }

  #items({ runId, arm }: ArmOfRun): number {
    return knownAnswers(this.#database).of(JSON.stringify(['items', runId, arm]), () => {
      const row = this.#database.guard(() =>
        this.#database.query.get<{ readonly items: number }>(
          sql`SELECT count(DISTINCT item_id) AS items FROM turn_list WHERE run_id = ${runId} AND arm = ${arm}`,
        ),
      );
      return row.items;
    });
  }
}
