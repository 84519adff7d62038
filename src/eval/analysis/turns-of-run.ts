import type { FailedTurn } from '../../records/turn-record.ts';
import type { AnsweredResult } from '../../records/turn-result.ts';

/** The turns of a run, in the order in which they were written. */
export interface TurnsOfRun {
  readonly answered: readonly AnsweredResult[];
  readonly failed: readonly FailedTurn[];
}

/** A key that turns of two arms on one item have in common. */
export function pairKey(turn: { readonly itemId: string; readonly repeat: number }): string {
  return `${turn.itemId}#${turn.repeat}`;
}

/** The turns of one arm by `pairKey`. */
export function turnsByPair(answered: readonly AnsweredResult[], arm: string): Map<string, AnsweredResult> {
  return new Map(answered.filter((turn) => turn.arm === arm).map((turn) => [pairKey(turn), turn]));
}
