import { BenchError } from '../../base/bench-error.ts';
import { normalisedEntropy } from '../../engine/sequence-score.ts';
import type { CallOptions, EngineSession } from '../../engine/engine-session.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { MemorySearchResult } from '../../retrieval/retriever.ts';

export interface GateDecision {
  readonly inject: boolean;
  readonly alpha: number;
  readonly evaluatedTokens: number;
  /** The factors of the decision, for reports. */
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * Decides before the prompt is built whether memories are injected, and with which α.
 * @param session evaluates the gate's pass, counted by its meter; may be left in any state
 * @param bareTokens the prompt without memories and history
 */
export type TurnGate = (
  session: EngineSession,
  retrieved: readonly MemorySearchResult[],
  bareTokens: () => Promise<readonly TokenId[]>,
  options?: CallOptions,
) => Promise<GateDecision>;

/** The paper's threshold, which is calibrated for the paper's embedder. */
export const PAPER_RELEVANCE_THRESHOLD = 0.7;

const MIN_ALPHA = 0.1;
const LARGEST_ALPHA = 1;

interface GateFactors {
  readonly relevance: number;
  /** Entropy of the next token after the bare prompt: 0 is certain, 1 is uniform. */
  readonly uncertainty: number;
  readonly margin: number;
}

/** α = clamp(σ(2·(uncertainty − 0.5) + 1.5·(relevance − threshold) + 0.3·margin), 0.1, 1) */
function gatedAlpha({ relevance, uncertainty, margin }: GateFactors, threshold: number): number {
  const strength = 2 * (uncertainty - 0.5) + 1.5 * (relevance - threshold) + 0.3 * margin;
  return Math.min(LARGEST_ALPHA, Math.max(MIN_ALPHA, 1 / (1 + Math.exp(-strength))));
}

/**
 * Injects if the best memory is relevant enough, with a larger α the less certain the model is. Costs one pass over the bare
 * prompt per turn.
 * @throws BenchError `unsupported` if the engine gives only a part of the next-token distribution
 */
export function dualFactorGate(threshold: number): TurnGate {
  return async (session, retrieved, bareTokens, options) => {
    const [best, second] = retrieved;
    if (best === undefined) {
      return { inject: false, alpha: 1, evaluatedTokens: 0, details: { inject: false, threshold } };
    }
    const tokens = await bareTokens();
    await session.clear();
    const { next } = await session.score(tokens, [], options);
    if (next.span !== 'all') {
      const message =
        'the gate needs the whole next-token distribution, but the engine gives only the most likely tokens';
      throw new BenchError('unsupported', message, 'choose an arm without a gate, such as dki');
    }
    const factors: GateFactors = {
      relevance: best.score,
      uncertainty: normalisedEntropy(next, next.probabilities.length),
      margin: best.score - (second?.score ?? 0),
    };
    const inject = factors.relevance > threshold;
    const alpha = gatedAlpha(factors, threshold);
    return { inject, alpha, evaluatedTokens: tokens.length, details: { ...factors, threshold, alpha, inject } };
  };
}
