import type { Turns } from '../arm-turns.ts';
import { mean } from '../statistics/observations.ts';
import type { ArmPair } from './comparability.ts';
import type { ComparedRun } from './compared-run.ts';

/** One run's answers to an item, by repeat, and the share of them that are right. */
export interface ItemAnswers {
  readonly answers: readonly string[];
  readonly right: number;
}

/** An item that one run answers better than the other. */
export interface FlippedItem {
  readonly itemId: string;
  readonly userId: string;
  /** `won` if the first run is better. */
  readonly outcome: 'won' | 'lost';
  readonly question: string;
  /** Null where only abstaining is right. */
  readonly gold: string | null;
  readonly a: ItemAnswers;
  readonly b: ItemAnswers;
}

/** Items that an arm answers better in one run than in the other, by task success. */
export interface ArmFlips {
  readonly arms: ArmPair;
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
  /** In the order of the first run. */
  readonly items: readonly FlippedItem[];
}

function itemAnswers(turns: Turns): ItemAnswers | null {
  const scores = turns.flatMap((turn) => turn.scores.taskSuccess ?? []);
  return scores.length === 0 ? null : { answers: turns.map(({ answer }) => answer.text), right: mean(scores) };
}

/** Finds the items whose answer is right in one run and wrong, or less often right, in the other. */
export function armFlips(a: ComparedRun, b: ComparedRun, arms: ArmPair): ArmFlips {
  const others = Map.groupBy(b.turns(arms.b), ({ itemId }) => itemId);
  const items: FlippedItem[] = [];
  let ties = 0;
  for (const [itemId, turns] of Map.groupBy(a.turns(arms.a), (turn) => turn.itemId)) {
    const [own, other] = [itemAnswers(turns), itemAnswers(others.get(itemId) ?? [])];
    if (own === null || other === null) continue;
    if (own.right === other.right) {
      ties++;
      continue;
    }
    const { userId, item } = turns[0]!;
    const outcome = own.right > other.right ? 'won' : 'lost';
    items.push({ itemId, userId, outcome, question: item.query, gold: item.gold, a: own, b: other });
  }
  const wins = items.filter(({ outcome }) => outcome === 'won').length;
  return { arms, wins, losses: items.length - wins, ties, items };
}
