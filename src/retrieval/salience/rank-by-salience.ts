import { fuseRanks, normalisedFusion } from './rank-fusion.ts';
import type { SalienceEntry } from './salience-entry.ts';
import { salienceScores, type SalienceRule } from './salience-score.ts';

/** An entry with its salience. */
export interface ScoredEntry {
  readonly entry: SalienceEntry;
  readonly score: number;
  readonly tokenCount: number;
}

/** Ranks the results of several searches by salience; of equal scores, the better fused rank first. */
export function rankBySalience(
  lists: readonly (readonly SalienceEntry[])[],
  accessCount: (entry: SalienceEntry) => number,
  nowMs: number,
  rule: SalienceRule,
): ScoredEntry[] {
  const fused = fuseRanks(lists);
  const scores = salienceScores(
    fused.map(({ id: entry, score }) => ({
      semanticSimilarity: normalisedFusion(score, lists.length),
      reinforcement: entry.reinforcement,
      updatedAtMs: entry.updatedAtMs,
      accessCount: accessCount(entry),
    })),
    nowMs,
    rule,
  );
  return fused
    .map(({ id: entry }, index) => ({ entry, score: scores[index]!, tokenCount: entry.tokenCount }))
    .sort((a, b) => b.score - a.score);
}
