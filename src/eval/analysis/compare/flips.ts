import type { ArmPair } from './comparability.ts';
import type { ComparedRun, ComparedTurn } from './compared-run.ts';

/** One run's answers to an item, by repeat, and the share of them that are right. */
export interface ItemAnswers {
  readonly answers: readonly string[];
  readonly right: number;
}

/** An item that one run answers better than the other. */
export interface FlippedItem {
  readonly itemId: string;
  readonly userId: string;
  /** `won` where the first run is the better one. */
  readonly outcome: 'won' | 'lost';
  readonly question: string;
  /** Null where only abstaining is right. */
  readonly gold: string | null;
  readonly a: ItemAnswers;
  readonly b: ItemAnswers;
}

/** Items that one arm answers better in one run than in the other, by task success. */
export interface ArmFlips {
  readonly arms: ArmPair;
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
  /** In the order of the first run. */
  readonly items: readonly FlippedItem[];
}

function answersOf(turns: readonly ComparedTurn[]): ItemAnswers | null {
  const scores = turns.flatMap(({ values }) => values['taskSuccess'] ?? []);
  if (scores.length === 0) return null;
  return {
    answers: turns.map(({ answer }) => answer),
    right: scores.reduce((sum, score) => sum + score, 0) / scores.length,
  };
}

/** Finds the items whose answer is right in one run and not, or less often, in the other. */
export function armFlips(a: ComparedRun, b: ComparedRun, arms: ArmPair): ArmFlips {
  const others = Map.groupBy(b.turns.get(arms.b) ?? [], ({ itemId }) => itemId);
  const items: FlippedItem[] = [];
  let ties = 0;
  for (const [itemId, turns] of Map.groupBy(a.turns.get(arms.a) ?? [], (turn) => turn.itemId)) {
    const [ofA, ofB] = [answersOf(turns), answersOf(others.get(itemId) ?? [])];
    if (ofA === null || ofB === null) continue;
    if (ofA.right === ofB.right) {
      ties++;
      continue;
    }
    items.push({
      itemId,
      userId: turns[0]!.userId,
      outcome: ofA.right > ofB.right ? 'won' : 'lost',
      question: turns[0]!.question,
      gold: turns[0]!.gold,
      a: ofA,
      b: ofB,
    });
  }
  const wins = items.filter(({ outcome }) => outcome === 'won').length;
  return { arms, wins, losses: items.length - wins, ties, items };
}
