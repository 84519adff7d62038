import type { AnsweredResult } from '../../../records/turn-result.ts';
import { partnersOf } from '../partners.ts';
import { turnsOfArm } from '../turns-of-run.ts';

/** A turn beside that of another arm on the same item. */
interface TurnPair {
  readonly turn: AnsweredResult;
  readonly other: AnsweredResult;
}

/** The turns of an arm beside those of its reference on the same item, where both had the same conversation before. */
export function pairsOf(answered: readonly AnsweredResult[], arm: string, reference: string): TurnPair[] {
  const turns = turnsOfArm(answered, arm);
  const others = partnersOf(turns, turnsOfArm(answered, reference));
  const pairs: TurnPair[] = [];
  turns.forEach((turn, place) => {
    const other = others.at(place);
    if (other?.facts.historySha256 === turn.facts.historySha256) pairs.push({ turn, other });
  });
  return pairs;
}
