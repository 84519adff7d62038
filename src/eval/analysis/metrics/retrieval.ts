/**
 * Measures of a ranked list against the set of memories that a question needs. Relevance is binary; a memory that
 * stands twice in a list counts once, at its first place.
 *
 * @see Voorhees 1999 (reciprocal rank); Järvelin and Kekäläinen 2002 (nDCG)
 */

/**
 * The share of the evidence among the first `k`, 0 to 1.
 *
 * @throws RangeError where there is no evidence: nothing could be missed
 */
export function recallAtK(ranked: readonly string[], evidence: readonly string[], k: number): number {
  const needed = evidenceSet(evidence);
  return (
    distinct(ranked)
      .slice(0, k)
      .filter((id) => needed.has(id)).length / needed.size
  );
}

/** One over the place, from 1, of the first piece of evidence; 0 where none is there. @throws RangeError as `recallAtK` */
export function reciprocalRank(ranked: readonly string[], evidence: readonly string[]): number {
  const needed = evidenceSet(evidence);
  const first = distinct(ranked).findIndex((id) => needed.has(id));
  return first === -1 ? 0 : 1 / (first + 1);
}

/**
 * Discounted gain of the first `k`, Σ 1 / log₂(place + 1) over the evidence, over that of the best list possible: 0 to 1.
 *
 * @throws RangeError as `recallAtK`
 */
export function ndcgAtK(ranked: readonly string[], evidence: readonly string[], k: number): number {
  const needed = evidenceSet(evidence);
  const gain = distinct(ranked)
    .slice(0, k)
    .reduce((sum, id, index) => (needed.has(id) ? sum + discount(index) : sum), 0);
  const ideal = Array.from({ length: Math.min(k, needed.size) }, (_, index) => discount(index));
  return gain / ideal.reduce((sum, value) => sum + value, 0);
}

function discount(index: number): number {
  return 1 / Math.log2(index + 2);
}

function evidenceSet(evidence: readonly string[]): ReadonlySet<string> {
  if (evidence.length === 0) throw new RangeError('a question without evidence has no retrieval score');
  return new Set(evidence);
}

function distinct(ranked: readonly string[]): string[] {
  return [...new Set(ranked)];
}
