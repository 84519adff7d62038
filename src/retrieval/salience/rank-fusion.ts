/** The constant of reciprocal rank fusion: how slowly a rank loses weight. */
const rankFusionConstant = 60;

/** An item with its fused score. */
export interface FusedRank<Id> {
  readonly id: Id;
  /** Σ 1 / (k + rank + 1) over the lists that contain it, ranks from 0. */
  readonly score: number;
}

/**
 * Reciprocal rank fusion: merges rankings by ranks alone, so that scores of different kinds need no common scale. Best
 * first; of equal scores, the first occurrence, list by list.
 * @see Cormack, Clarke and Büttcher 2009
 */
export function fuseRanks<Id>(lists: readonly (readonly Id[])[]): FusedRank<Id>[] {
  const scores = new Map<Id, number>();
  for (const list of lists) {
    for (const [rank, id] of list.entries()) {
      scores.set(id, (scores.get(id) ?? 0) + 1 / (rankFusionConstant + rank + 1));
    }
  }
  return [...scores].map(([id, score]) => ({ id, score })).sort((a, b) => b.score - a.score);
}

/** Divides a fused score by its maximum, a first place in each list: 0 to 1. */
export function normalisedFusion(score: number, lists: number): number {
  return (score * (rankFusionConstant + 1)) / lists;
}
