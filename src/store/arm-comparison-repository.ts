import { sql } from 'drizzle-orm';
import { Repository } from './database.ts';
import type { TurnRow } from './schema.ts';

export interface ArmOfRun {
  readonly runId: string;
  readonly arm: string;
}

/** Values of an item that two arms ran, by which pairs are sorted and counted. */
export interface ItemPairScores {
  readonly userId: string;
  readonly turnA: number;
  readonly turnB: number;
  /** Mean task success over repeats; null if nothing could be scored. */
  readonly successA: number | null;
  readonly successB: number | null;
  /** Each arm has exactly one turn of the item. */
  readonly single: 0 | 1;
  /** The first turns gave the same answer, and the gold answer the same probability. */
  readonly sameAnswer: 0 | 1;
  readonly sameGold: 0 | 1;
}

/** One arm's side of an item: mean success over repeats, and the answer of the first turn; long texts are cut. */
export interface ItemSide extends Pick<TurnRow, 'repeat' | 'turn' | 'answer' | 'error'> {
  readonly success: number | null;
  readonly repeats: number;
}

/** An item that two arms ran, as a list shows it. */
export interface ItemPair extends Pick<TurnRow, 'itemId' | 'question' | 'gold'> {
  readonly a: ItemSide;
  readonly b: ItemSide;
}

/** Compares the answers of two arms, item by item. */
export class ArmComparisonRepository extends Repository {
  /** The items that both arms ran, in the order of A's first turns. */
  scores(a: ArmOfRun, b: ArmOfRun): ItemPairScores[] {
    // Joins each turn of an item with each turn of the other arm, which does not change the means. The index on run, arm and item
    // gives both sides without a temporary table; CROSS JOIN makes its first table the outer loop.
    return this.query(sql`
      SELECT first.user_id AS userId, turnA, turnB, successA, successB, meetings = 1 AS single,
        first.answer = second.answer AS sameAnswer,
        first.gold_log_probability IS second.gold_log_probability AS sameGold
      FROM (
        SELECT min(a.id) AS turnA, min(b.id) AS turnB, avg(a.task_success) AS successA,
          avg(b.task_success) AS successB, count(*) AS meetings
        FROM turns AS a CROSS JOIN turns AS b ON b.item_id = a.item_id
        WHERE a.run_id = ${a.runId} AND a.arm = ${a.arm} AND b.run_id = ${b.runId} AND b.arm = ${b.arm}
        GROUP BY a.item_id
      ) CROSS JOIN turns AS first ON first.id = turnA CROSS JOIN turns AS second ON second.id = turnB
      ORDER BY turnA`);
  }

  countItems({ runId, arm }: ArmOfRun): number {
    const counted = sql`SELECT count(DISTINCT item_id) AS items FROM turns WHERE run_id = ${runId} AND arm = ${arm}`;
    return this.query<{ readonly items: number }>(counted)[0]!.items;
  }

  /** Pairs as a list shows them, in the given order. @param pairs ids of the first turns */
  details(pairs: readonly Pick<ItemPairScores, 'turnA' | 'turnB'>[]): ItemPair[] {
    const ids = JSON.stringify(pairs.flatMap(({ turnA, turnB }) => [turnA, turnB]));
    const itemTurns = sql`FROM turns AS one
      WHERE one.run_id = shown.run_id AND one.arm = shown.arm AND one.item_id = shown.item_id`;
    const turns = this.query<
      ItemSide & Pick<ItemPair, 'itemId' | 'question' | 'gold'> & { readonly turnId: number }
    >(sql`
      SELECT id AS turnId, item_id AS itemId, repeat, turn, substr(question, 1, 300) AS question,
        substr(gold, 1, 300) AS gold, substr(answer, 1, 300) AS answer, substr(error, 1, 300) AS error,
        (SELECT count(*) ${itemTurns}) AS repeats, (SELECT avg(task_success) ${itemTurns}) AS success
      FROM turns AS shown WHERE id IN (SELECT value FROM json_each(${ids}))`);
    const byId = new Map(turns.map((turn) => [turn.turnId, turn]));
    return pairs.map(({ turnA, turnB }) => {
      const [a, b] = [byId.get(turnA)!, byId.get(turnB)!];
      // A failed turn has neither question nor gold.
      return { itemId: a.itemId, question: a.question ?? b.question, gold: a.gold ?? b.gold, a, b };
    });
  }
}
