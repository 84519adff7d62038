/** Binary relevance; repeated memories count at their first rank. @see Voorhees 1999; Järvelin and Kekäläinen 2002 */

/** The share of the evidence among the first `k`, 0 to 1. @throws RangeError without evidence */
export function recallAtK(ranked: readonly string[], evidence: readonly string[], k: number): number {
  const relevant = relevance(ranked, evidence);
  return relevant.slice(0, k).filter(Boolean).length / new Set(evidence).size;
}

/** 1 ÷ rank of the first piece of evidence; 0 if there is none in the list. @throws RangeError as `recallAtK` */
export function reciprocalRank(ranked: readonly string[], evidence: readonly string[]): number {
  const first = relevance(ranked, evidence).indexOf(true);
  return first === -1 ? 0 : 1 / (first + 1);
}

/** Gain Σ 1 / log₂(rank + 1) of the first `k`, divided by that of the best list. @throws RangeError as `recallAtK` */
export function ndcgAtK(ranked: readonly string[], evidence: readonly string[], k: number): number {
  const gain = (list: readonly boolean[]): number =>
    list.slice(0, k).reduce((sum, isRelevant, index) => (isRelevant ? sum + 1 / Math.log2(index + 2) : sum), 0);
  return gain(relevance(ranked, evidence)) / gain([...new Set(evidence)].map(() => true));
}

/** True for each distinct memory of a ranked list that is evidence. */
function relevance(ranked: readonly string[], evidence: readonly string[]): boolean[] {
  if (evidence.length === 0) throw new RangeError('a question without evidence has no retrieval score');
  return [...new Set(ranked)].map((id) => evidence.includes(id));
}
