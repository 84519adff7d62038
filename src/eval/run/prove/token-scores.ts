import type { InjectedParts } from '../observe/injected-parts.ts';
import type { ExpectedParts } from './expected-cells.ts';

/** A prompt whose tokens are scored anew. */
export type ScoredParts = ExpectedParts & Pick<InjectedParts, 'suffix' | 'question'>;

/** Scores of tokens, by position; of tokens that may not be selected they mean nothing. */
export interface TokenScores {
  readonly scores: readonly number[];
  /** Scores that lie no further apart may have been found in the other order. */
  readonly tolerance: number;
  /** Gives the score of a run by those of its tokens. Default: their mean. */
  readonly ofRun?: (scores: readonly number[]) => number;
}

export function mean(scores: readonly number[]): number {
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}
