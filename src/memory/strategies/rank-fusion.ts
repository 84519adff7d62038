/** The constant of reciprocal rank fusion: how slowly a rank loses weight. */
const rankFusionConstant = 60;

export interface FusedRank<Id> {
  readonly id: Id;
  /** Σ 1 / (k + rank + 1) over the lists that hold it, ranks from 0. */
  readonly score: number;
}

/**
 * Reciprocal rank fusion: one ranking out of several, by ranks alone, so that scores of different kinds need no
 * common scale. The best first; of one score, the one that was met first, list by list.
 *
 * @see seed 002 §3.3; Cormack, Clarke and Büttcher 2009
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

/** A fused score over the highest that so many lists allow, which is that of a first place in each: 0 to 1. */
export function normalisedFusion(score: number, lists: number): number {
  return (score * (rankFusionConstant + 1)) / lists;
}
