import type { TurnGate } from '../turn-gate.ts';

/** The threshold of the paper, for the paper's embedder. */
export const PAPER_RELEVANCE_THRESHOLD = 0.7;

const LEAST_ALPHA = 0.1;
const LARGEST_ALPHA = 1;

/** What the gate looks at. */
interface GateFactors {
  /** Best score of the recall. */
  readonly relevance: number;
  /** Entropy of the next token on the bare query, from 0, certain, to 1, uniform. */
  readonly uncertainty: number;
  /** How far the best score is above the second. */
  readonly margin: number;
}

/** α = clamp(σ(2·(uncertainty − 0.5) + 1.5·(relevance − threshold) + 0.3·margin), 0.1, 1) */
function gatedAlpha({ relevance, uncertainty, margin }: GateFactors, threshold: number): number {
  const strength = 2 * (uncertainty - 0.5) + 1.5 * (relevance - threshold) + 0.3 * margin;
  return Math.min(LARGEST_ALPHA, Math.max(LEAST_ALPHA, 1 / (1 + Math.exp(-strength))));
}

/**
 * Injects where the best memory is relevant enough, the more strongly the less certain the model is of itself.
 * The pass that measures the uncertainty is the arm's own, and is paid for in every turn that recalls something.
 * @param threshold of the relevance; calibrated for the embedder
 */
export function dualFactorGate(threshold: number): TurnGate {
  return async (sequence, recalled, bareTokens) => {
    const [best, second] = recalled;
    if (best === undefined) {
      return { inject: false, alpha: 1, evaluatedTokens: 0, details: { inject: false, threshold } };
    }
    const tokens = bareTokens();
    await sequence.clear();
    const factors: GateFactors = {
      relevance: best.score,
      uncertainty: await sequence.nextTokenEntropy(tokens),
      margin: best.score - (second?.score ?? 0),
    };
    const inject = factors.relevance > threshold;
    const alpha = gatedAlpha(factors, threshold);
    return { inject, alpha, evaluatedTokens: tokens.length, details: { ...factors, threshold, alpha, inject } };
  };
}
