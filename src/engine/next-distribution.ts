import type { TokenId } from './token-id.ts';

/** Smallest positive 32-bit float. Replaces probabilities that an engine rounds to 0, so that ln p stays finite. */
export const SMALLEST_PROBABILITY = 2 ** -149;

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
