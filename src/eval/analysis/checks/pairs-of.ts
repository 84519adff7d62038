import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import { partnersOf } from '../partners.ts';
import { type Lookup, readerOf } from '../statistics/column.ts';
import { lookedUp, where } from '../statistics/sublist.ts';
import { turnField } from '../turn-field.ts';
import { turnsOfArm } from '../turns-of-run.ts';

/** Turns of an arm, and beside each, at the same place, that of another arm on the same item. */
export interface TurnPairs {
  readonly turns: readonly AnsweredResult[];
  readonly others: readonly AnsweredResult[];
}

const HISTORY = turnField('facts', 'historySha256');

/** The turns of an arm beside those of its reference on the same item, where both had the same conversation before. */
export function pairsOf(answered: readonly AnsweredResult[], arm: string, reference: string): TurnPairs {
  const ofArm = turnsOfArm(answered, arm);
  const beside = partnersOf(ofArm, turnsOfArm(answered, reference));
  const [history, theirs] = [lookedUp(ofArm, HISTORY), beside.known(HISTORY)];
  const others: AnsweredResult[] = [];
  const turns = where(ofArm, (_, place) => {
    if (history.at(place) !== theirs.at(place)) return false;
    others.push(beside.at(place)!);
    return true;
  });
  return { turns, others };
}

/** The turns of pairs in which what a lookup says of both meets a condition. */
export function turnsWhere<Value>(
  { turns, others }: TurnPairs,
  lookup: Lookup<AnsweredResult, Value>,
  holds: (own: Value, other: Value) => boolean,
): readonly AnsweredResult[] {
  const [own, other] = [readerOf(turns, lookup), readerOf(others, lookup)];
  return where(turns, (_, place) => holds(own(place), other(place)));
}
