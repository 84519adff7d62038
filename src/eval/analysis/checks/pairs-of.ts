import type { AnsweredResult } from '../../../records/turn-result.ts';
import { pairKey, turnsByPair, turnsOfArm } from '../turns-of-run.ts';

/** A turn beside that of another arm on the same item. */
interface TurnPair {
  readonly turn: AnsweredResult;
  readonly other: AnsweredResult;
}

/** The turns of an arm beside those of its reference on the same item, where both had the same conversation before. */
export function pairsOf(answered: readonly AnsweredResult[], arm: string, reference: string): TurnPair[] {
  const others = turnsByPair(turnsOfArm(answered, reference));
  return turnsOfArm(answered, arm).flatMap((turn) => {
    const other = others.get(pairKey(turn));
    return other?.facts.historySha256 === turn.facts.historySha256 ? [{ turn, other }] : [];
  });
}
