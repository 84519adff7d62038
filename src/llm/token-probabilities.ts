import type { TokenId } from './model-info.ts';

/** The smallest positive 32-bit float: a probability that llama.cpp rounds to 0 counts as this one, so that ln p is finite. */
const SMALLEST_PROBABILITY = 2 ** -149;

/** What a model gives to a continuation. */
export interface SequenceScore {
  /** Softmax over the vocabulary for the first token of the continuation, by token id. */
  readonly nextProbabilities: Float64Array;
  /** ln p of each token of the continuation, given all before it. */
  readonly logProbabilities: readonly number[];
}

/** Where two evaluations of one token sequence differ. */
export interface ScoreDifference {
  readonly bitwiseEqual: boolean;
  /** Largest difference in ln p, over next tokens with p ≥ 1e-6 and over the continuation. */
  readonly largestDifference: number;
}

const RELEVANT_PROBABILITY = 1e-6;

/** Reads a continuation off the probabilities after each of its positions. */
export function toScore(
  probabilities: readonly ReadonlyMap<TokenId, number>[],
  continuation: readonly TokenId[],
  vocabularySize: number,
): SequenceScore {
  const nextProbabilities = new Float64Array(vocabularySize);
  probabilities[0]?.forEach((probability, token) => (nextProbabilities[token] = probability));
  const logProbabilities = continuation.map((token, index) =>
    Math.log(Math.max(probabilities[index]?.get(token) ?? 0, SMALLEST_PROBABILITY)),
  );
  return { nextProbabilities, logProbabilities };
}

/** Entropy over ln(vocabulary): 0 where one token is certain, 1 where all are alike. */
export function normalisedEntropy(probabilities: Iterable<number>, vocabularySize: number): number {
  let nats = 0;
  for (const probability of probabilities) if (probability > 0) nats -= probability * Math.log(probability);
  return Math.min(1, Math.max(0, nats / Math.log(vocabularySize)));
}

/** Compares two scores of one continuation bit by bit, and in ln p. */
export function compareScores(a: SequenceScore, b: SequenceScore): ScoreDifference {
  let bitwiseEqual = true;
  let largestDifference = 0;
  const note = (difference: number): void => {
    bitwiseEqual = false;
    largestDifference = Math.max(largestDifference, difference);
  };
  a.nextProbabilities.forEach((p, token) => {
    const q = b.nextProbabilities[token]!;
    if (p !== q) note(Math.max(p, q) < RELEVANT_PROBABILITY ? 0 : Math.abs(logOf(p) - logOf(q)));
  });
  a.logProbabilities.forEach((p, index) => {
    const q = b.logProbabilities[index]!;
    if (p !== q) note(Math.abs(p - q));
  });
  return { bitwiseEqual, largestDifference };
}

function logOf(probability: number): number {
  return Math.log(Math.max(probability, SMALLEST_PROBABILITY));
}
