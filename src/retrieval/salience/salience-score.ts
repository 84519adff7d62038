/** Signals of a memory's salience, unweighted. */
export interface SalienceSignals {
  /** Fused rank of the searches divided by its maximum, 0 to 1. */
  readonly semanticSimilarity: number;
  /** Number of times that it was said. */
  readonly reinforcement: number;
  /** Milliseconds since 1970. */
  readonly updatedAtMs: number;
  /** Number of times that a search returned it. */
  readonly accessCount: number;
}

/** Weights of the signals; they sum to 1. */
export const salienceWeights = { semantic: 0.5, reinforcement: 0.2, recency: 0.2, access: 0.1 } as const;

const HALF_LIFE_DAYS = 30;
const DAY_MS = 86_400_000;

/** Exponential decay: half after 30 days, a quarter after 60; 1 for the present and the future. */
export function recencyDecay(daysOld: number): number {
  const lambda = Math.LN2 / HALF_LIFE_DAYS;
  return Math.exp(-lambda * Math.max(0, daysOld));
}

/** Logarithmic scale of a count, so that an extreme value does not dominate: 0 for 0, below 1 for the largest. */
export function countScore(count: number, largest: number): number {
  return Math.log(count + 1) / Math.log(largest + 2);
}

/**
 * Computes the salience of each memory of a result set, in order: 0.5 × semantic similarity + 0.2 × reinforcement +
 * 0.2 × recency + 0.1 × access. Reinforcement and access are relative to the largest of the set.
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
