import type { TurnObservation } from '../../../store/records/turn-observation.ts';

/**
 * How far a next-token distribution q is from its reference p: `klDivergence` is Σ p ln(p ÷ q) in nats, and `topOne` is true if both
 * have the same likeliest token.
 */
export type Agreement = NonNullable<TurnObservation['agreement']>;

/** The smallest positive 32-bit float replaces what llama.cpp rounds to 0, so that the divergence is finite. */
const SMALLEST_PROBABILITY = 2 ** -149;

/** @param probabilities q by token id @param reference p, equally long */
export function nextTokenAgreement(probabilities: Float64Array, reference: Float64Array): Agreement {
  let klDivergence = 0;
  reference.forEach((p, token) => {
    if (p > 0) klDivergence += p * Math.log(p / Math.max(probabilities[token]!, SMALLEST_PROBABILITY));
  });
  return {
    klDivergence: Math.max(0, klDivergence),
    topOne: likeliestToken(probabilities) === likeliestToken(reference),
  };
}

function likeliestToken(probabilities: Float64Array): number {
  return probabilities.reduce((best, p, token) => (p > probabilities[best]! ? token : best), 0);
}
