/** What makes a memory worth recalling, as it stands before it is weighed. */
export interface SalienceSignals {
  /** Fused rank of the searches over its maximum, 0 to 1. */
  readonly semanticSimilarity: number;
  /** How often it was said. */
  readonly reinforcement: number;
  /** Milliseconds since 1970. */
  readonly updatedAtMs: number;
  /** How often a search has returned it. */
  readonly accessCount: number;
}

export const salienceWeights = { semantic: 0.5, reinforcement: 0.2, recency: 0.2, access: 0.1 } as const;

const HALF_LIFE_DAYS = 30;
const DAY_MS = 86_400_000;

/** Half after 30 days, a quarter after 60; 1 for what is not older than now. */
export function recencyDecay(daysOld: number): number {
  const lambda = Math.LN2 / HALF_LIFE_DAYS;
  return Math.exp(-lambda * Math.max(0, daysOld));
}

/** A count on a logarithmic scale, so that an extreme one does not drown the rest: 0 for 0, below 1 for the largest. */
export function countScore(count: number, largest: number): number {
  return Math.log(count + 1) / Math.log(largest + 2);
}

/**
 * The salience of each memory of one result set, in its order: 0.5 × semantic similarity + 0.2 × reinforcement +
 * 0.2 × recency + 0.1 × access. Reinforcement and access are relative to the largest of the set.
 *
 * @see seed 002 §4
 */
export function salienceScores(candidates: readonly SalienceSignals[], nowMs: number): number[] {
  const mostReinforced = Math.max(0, ...candidates.map(({ reinforcement }) => reinforcement));
  const mostAccessed = Math.max(0, ...candidates.map(({ accessCount }) => accessCount));
  return candidates.map(
    ({ semanticSimilarity, reinforcement, updatedAtMs, accessCount }) =>
      salienceWeights.semantic * semanticSimilarity +
      salienceWeights.reinforcement * countScore(reinforcement, mostReinforced) +
      salienceWeights.recency * recencyDecay((nowMs - updatedAtMs) / DAY_MS) +
      salienceWeights.access * countScore(accessCount, mostAccessed),
  );
}
