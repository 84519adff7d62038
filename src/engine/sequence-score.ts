import type { TokenId, TokenIds } from './token-id.ts';

/** Smallest positive 32-bit float. Replaces probabilities that an engine rounds to 0, so that ln p stays finite. */
const SMALLEST_PROBABILITY = 2 ** -149;

interface LikelyToken {
  readonly id: TokenId;
  readonly probability: number;
}

/** Distribution of the next token: over the whole vocabulary, or only its likeliest tokens. */
export type NextDistribution =
  | {
      readonly span: 'all';
      readonly probabilities: Float64Array;
    }
  | {
      readonly span: 'top';
      readonly tokens: readonly LikelyToken[];
    };

export function lnProbability(probability: number): number {
  return Math.log(Math.max(probability, SMALLEST_PROBABILITY));
}

export function tokenProbability(next: NextDistribution, token: TokenId): number | undefined {
  return next.span === 'all' ? next.probabilities[token] : next.tokens.find(({ id }) => id === token)?.probability;
}

/** The likeliest tokens, in falling order; ties in order of id. */
export function likeliestTokens(next: NextDistribution, count: number): readonly LikelyToken[] {
  if (next.span === 'top') return next.tokens.slice(0, count);
  const best: LikelyToken[] = [];
  next.probabilities.forEach((probability, id) => {
    if (best.length === count && probability <= best[count - 1]!.probability) return;
    const place = best.findIndex((other) => other.probability < probability);
    best.splice(place === -1 ? best.length : place, 0, { id, probability });
    best.length = Math.min(best.length, count);
  });
  return best;
}

/**
 * Entropy ÷ ln(vocabulary size): 0 if one token is certain, 1 if all are equally likely. If only the likeliest tokens are known, the
 * remaining probability counts as one more token, so the result is a lower bound.
 */
export function normalisedEntropy(next: NextDistribution, vocabularySize: number): number {
  const listed = next.span === 'all' ? [] : next.tokens.map(({ probability }) => probability);
  const rest = 1 - listed.reduce((sum, probability) => sum + probability, 0);
  const all = next.span === 'all' ? next.probabilities : Float64Array.of(...listed, rest);
  let nats = 0;
  // Sorted, as engines list them, because the order of a sum changes its last bits.
  for (const probability of all.toSorted().reverse()) {
    if (probability > 0) nats -= probability * Math.log(probability);
  }
  return Math.min(1, Math.max(0, nats / Math.log(vocabularySize)));
}

/** Probabilities of a continuation of a sequence. */
export interface SequenceScore {
  /** Distribution of the first token after the prompt. */
  readonly next: NextDistribution;
  /** ln p of each continuation token, given all tokens before it. */
  readonly logProbabilities: readonly number[];
  /**
   * [continuation token][token id]: the distribution predicting each token. Missing unless requested, or if the engine lists only
   * the likeliest tokens.
   */
  readonly distributions?: readonly Float32Array[];
}

/** Difference between two evaluations of the same tokens. */
export interface ScoreDifference {
  readonly bitwiseEqual: boolean;
  /** Largest difference in ln p, over possible next tokens with p ≥ 1e-6 and over the continuation. */
  readonly largestDifference: number;
}

const RELEVANT_PROBABILITY = 1e-6;

/** Scores a continuation. @param probabilities [continuation token], by token id @param distributions includes them all */
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
    logProbabilities: continuation.map((token, index) => lnProbability(probabilities[index]?.get(token) ?? 0)),
    ...(distributions && {
      distributions: continuation.map((_, index) => fill(new Float32Array(vocabularySize), index)),
    }),
  };
}

/**
 * KL divergence Σ p ln(p ÷ q) in nats, with p as the reference, averaged over positions. Null if there are no positions, or if
 * the numbers of positions or vocabulary sizes differ.
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

/** Compares two scores of one continuation bit by bit, and in ln p. In lists of likeliest tokens, only tokens in both lists are compared. */
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
    const q = tokenProbability(b.next, token);
    if (q === undefined) bitwiseEqual = false;
    else if (p !== q) note(Math.max(p, q) < RELEVANT_PROBABILITY ? 0 : Math.abs(lnProbability(p) - lnProbability(q)));
  }
  a.logProbabilities.forEach((p, index) => {
    const q = b.logProbabilities[index];
    if (q !== undefined && p !== q) note(Math.abs(p - q));
  });
  return { bitwiseEqual, largestDifference };
}
