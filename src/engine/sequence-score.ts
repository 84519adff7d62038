import type { TokenId, TokenIds } from './token-id.ts';
import { logProbabilityOf, type NextDistribution, probabilityOf, SMALLEST_PROBABILITY } from './next-distribution.ts';

/** The probabilities of a continuation. */
export interface SequenceScore {
  /** Behind the scored tokens: where the continuation begins. */
  readonly next: NextDistribution;
  /** ln p of each token of the continuation, given all before it. */
  readonly logProbabilities: readonly number[];
  /**
   * [continuation token][token id]: the distribution in front of each token; missing unless requested, and where the engine
   * lists only the likeliest tokens.
   */
  readonly distributions?: readonly Float32Array[];
}

/** Differences between two evaluations of one token sequence. */
export interface ScoreDifference {
  readonly bitwiseEqual: boolean;
  /** Largest difference in ln p, over next tokens with p ≥ 1e-6 and over the continuation. */
  readonly largestDifference: number;
}

const RELEVANT_PROBABILITY = 1e-6;

/** Scores a continuation by the probabilities of all tokens in front of each of its own. @param distributions adds all of them */
export function toScore(
  probabilities: readonly ReadonlyMap<TokenId, number>[],
  continuation: TokenIds,
  vocabularySize: number,
  distributions = false,
): SequenceScore {
  const fill = <To extends Float32Array | Float64Array>(all: To, index: number): To => {
    probabilities[index]?.forEach((probability, token) => (all[token] = probability));
    return all;
  };
  return {
    next: { span: 'all', probabilities: fill(new Float64Array(vocabularySize), 0) },
    logProbabilities: continuation.map((token, index) => logProbabilityOf(probabilities[index]?.get(token) ?? 0)),
    ...(distributions && {
      distributions: continuation.map((_, index) => fill(new Float32Array(vocabularySize), index)),
    }),
  };
}

/**
 * Mean over positions of the KL divergence Σ p ln(p ÷ q) in nats, p being the reference; null without positions, and where
 * lists or vocabularies differ in length.
 */
export function meanDivergence(reference: readonly Float32Array[], other: readonly Float32Array[]): number | null {
  if (reference.length === 0 || reference.length !== other.length) return null;
  let sum = 0;
  for (const [position, p] of reference.entries()) {
    const q = other[position]!;
    if (q.length !== p.length) return null;
    if (p === q) continue;
    let nats = 0;
    for (let token = 0; token < p.length; token++) {
      const share = p[token]!;
      if (share > 0) nats += share * Math.log(share / Math.max(q[token]!, SMALLEST_PROBABILITY));
    }
    sum += Math.max(0, nats);
  }
  return sum / reference.length;
}

/** Compares two scores of one continuation bit by bit, and in ln p; of lists of likeliest tokens, those in both. */
export function compareScores(a: SequenceScore, b: SequenceScore): ScoreDifference {
  let bitwiseEqual = a.logProbabilities.length === b.logProbabilities.length && a.next.span === b.next.span;
  let largestDifference = 0;
  const note = (difference: number): void => {
    bitwiseEqual = false;
    largestDifference = Math.max(largestDifference, difference);
  };
  const listed: Iterable<readonly [TokenId, number]> =
    a.next.span === 'all'
      ? a.next.probabilities.entries()
      : a.next.tokens.map(({ id, probability }) => [id, probability] as const);
  for (const [token, p] of listed) {
    const q = probabilityOf(b.next, token);
    if (q === undefined) bitwiseEqual = false;
    else if (p !== q)
      note(Math.max(p, q) < RELEVANT_PROBABILITY ? 0 : Math.abs(logProbabilityOf(p) - logProbabilityOf(q)));
  }
  a.logProbabilities.forEach((p, index) => {
    const q = b.logProbabilities[index];
    if (q !== undefined && p !== q) note(Math.abs(p - q));
  });
  return { bitwiseEqual, largestDifference };
}
