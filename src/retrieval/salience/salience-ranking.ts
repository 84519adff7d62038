import { defaultWeights, type SalienceWeights } from '../../config/salience-weights.ts';
import type { SalienceEntry } from './salience-entry.ts';

/** Signals of a memory's salience, unweighted. */
export interface SalienceSignals extends Pick<SalienceEntry, 'reinforcement' | 'updatedAtMs'> {
  /** Fused rank of the searches divided by its maximum, 0 to 1. */
  readonly semanticSimilarity: number;
  /** How often searches returned it. */
  readonly accessCount: number;
}

/** Parameters that turn signals into a score. */
export interface SalienceRule {
  readonly weights: SalienceWeights;
  /** Days until the recency of a memory is halved; above 0. */
  readonly halfLifeDays: number;
}

export const documentRule: SalienceRule = { weights: defaultWeights, halfLifeDays: 30 };

const DAY_MS = 86_400_000;

/** Exponential decay: half after the half-life, a quarter after two; 1 for the present and the future. */
export function recencyDecay(daysOld: number, halfLifeDays: number): number {
  return Math.exp((-Math.LN2 / halfLifeDays) * Math.max(0, daysOld));
}

/** Logarithmic scale of a count, so that an extreme value does not dominate: 0 for 0, below 1 for the largest. */
export function countScore(count: number, largest: number): number {
  return Math.log(count + 1) / Math.log(largest + 2);
}

/**
 * Computes the salience of each memory of a result set, in order: the weighted sum of semantic similarity, reinforcement,
 * recency and access. Reinforcement and access are relative to the largest of the set.
 */
export function salienceScores(
  candidates: readonly SalienceSignals[],
  nowMs: number,
  { weights, halfLifeDays }: SalienceRule,
): number[] {
  const mostReinforced = Math.max(0, ...candidates.map(({ reinforcement }) => reinforcement));
  const mostAccessed = Math.max(0, ...candidates.map(({ accessCount }) => accessCount));
  return candidates.map(
    ({ semanticSimilarity, reinforcement, updatedAtMs, accessCount }) =>
      weights.semantic * semanticSimilarity +
      weights.reinforcement * countScore(reinforcement, mostReinforced) +
      weights.recency * recencyDecay((nowMs - updatedAtMs) / DAY_MS, halfLifeDays) +
      weights.access * countScore(accessCount, mostAccessed),
  );
}

/** The constant of reciprocal rank fusion: how slowly a rank loses weight. */
const rankFusionConstant = 60;

/**
 * Reciprocal rank fusion: merges rankings by ranks alone, so that scores of different kinds need no common scale. The score
 * is Σ 1 / (k + rank + 1) over the lists that contain an item, ranks from 0. Best first; of equal scores, the first
 * occurrence, list by list.
 * @see Cormack, Clarke and Büttcher 2009
 */
export function fuseRanks<Id>(lists: readonly (readonly Id[])[]): { readonly id: Id; readonly score: number }[] {
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

/** Ranks the results of several searches by salience; of equal scores, the better fused rank first. */
export function rankBySalience(
  lists: readonly (readonly SalienceEntry[])[],
  accessCount: (entry: SalienceEntry) => number,
  nowMs: number,
  rule: SalienceRule,
) {
  const fused = fuseRanks(lists);
  const signals = fused.map(({ id: entry, score }) => ({
    semanticSimilarity: normalisedFusion(score, lists.length),
    reinforcement: entry.reinforcement,
    updatedAtMs: entry.updatedAtMs,
    accessCount: accessCount(entry),
  }));
  const scores = salienceScores(signals, nowMs, rule);
  return fused.map(({ id }, index) => ({ ...id, score: scores[index]! })).sort((a, b) => b.score - a.score);
}
