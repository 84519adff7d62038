import { mean } from 'simple-statistics';
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

/**
 * The first run that was left out although it scores more than one that was selected, by more than the tolerance; null where
 * there is none.
 * @param runs positions, the neighbours of each together
 * @param selected positions of whole runs, of one at least
 */
export function missedRun(
  runs: readonly (readonly number[])[],
  selected: ReadonlySet<number>,
  { scores, tolerance, ofRun = mean }: TokenScores,
): { readonly position: number; readonly score: number; readonly least: number } | null {
  const scoreOf = (positions: readonly number[]): number => ofRun(positions.map((position) => scores[position]!));
  const isSelected = ([position]: readonly number[]): boolean => selected.has(position!);
  const least = Math.min(...runs.filter(isSelected).map(scoreOf));
  const missed = runs.find((positions) => !isSelected(positions) && scoreOf(positions) > least + tolerance);
  return missed === undefined ? null : { position: missed[0]!, score: scoreOf(missed), least };
}
