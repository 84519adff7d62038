import { onceFor } from '../../config/once-for.ts';
import type { AnsweredResult } from '../../records/turn-result.ts';
import { itemNumbers, matchItems, NONE } from './statistics/item-numbers.ts';
import { originOf } from './statistics/sublist.ts';

type Turns = readonly AnsweredResult[];

/** The places of the turns of an arm, by item and repeat. */
const placesOf = onceFor((turns: Turns) => {
  const { list, places: inList } = originOf(turns);
  const { ofTurns, byId } = itemNumbers(list);
  const repeats = 1 + turns.reduce((most, { repeat }) => Math.max(most, repeat), 0);
  const places = new Int32Array(byId.size * repeats).fill(NONE);
  turns.forEach(({ repeat }, place) => {
    places[ofTurns[inList === null ? place : inList[place]!]! * repeats + repeat] = place;
  });
  return { repeats, places };
});

/** The turn of another arm beside each of some turns, on the same item and repeat; undefined where that arm has none. */
export function partnersOf(turns: Turns, others: Turns): (AnsweredResult | undefined)[] {
  const { list, places: own } = originOf(turns);
  const numbers = itemNumbers(list);
  const match = matchItems(numbers)(itemNumbers(originOf(others).list));
  const { repeats, places } = placesOf(others);
  return turns.map(({ repeat }, index) => {
    const item = match[numbers.ofTurns[own === null ? index : own[index]!]!]!;
    const place = item === NONE || repeat >= repeats ? NONE : places[item * repeats + repeat]!;
    return place === NONE ? undefined : others[place]!;
  });
}
