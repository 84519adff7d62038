import { onceFor } from '../../base/once-for.ts';
import type { AnsweredResult } from '../../store/records/turn-result.ts';
import type { Column, Lookup } from './statistics/column.ts';
import { itemsOf, matchItems, NONE } from './statistics/item-numbers.ts';
import { lookedUp } from './statistics/sublist.ts';
import { turnField } from './turn-field.ts';

type Turns = readonly AnsweredResult[];

const REPEAT = turnField(null, 'repeat');

/** The places of the turns of an arm, by item and repeat. */
const placesOf = onceFor((turns: Turns) => {
  const items = itemsOf(turns);
  const repeatOf = lookedUp(turns, REPEAT);
  let repeats = 1;
  for (let place = 0; place < turns.length; place++) repeats = Math.max(repeats, 1 + repeatOf.at(place));
  const places = new Int32Array(items.numbers.byId.size * repeats).fill(NONE);
  for (let place = 0; place < turns.length; place++) {
    places[items.ofTurns[place]! * repeats + repeatOf.at(place)] = place;
  }
  return { repeats, places };
});

/** The place of each turn's partner among the turns of another arm; NONE where that has none. */
const partnerPlaces = onceFor((turns: Turns) =>
  onceFor((others: Turns): Int32Array => {
    const items = itemsOf(turns);
    const match = matchItems(items.numbers)(itemsOf(others).numbers);
    const { repeats, places } = placesOf(others);
    const partners = new Int32Array(turns.length).fill(NONE);
    const repeatOf = lookedUp(turns, REPEAT);
    for (let index = 0; index < turns.length; index++) {
      const item = match[items.ofTurns[index]!]!;
      const repeat = repeatOf.at(index);
      if (item !== NONE && repeat < repeats) partners[index] = places[item * repeats + repeat]!;
    }
    return partners;
  }),
);

/** The turns of another arm beside some turns, on the same item and repeat; undefined where that arm has none. */
export interface Partners extends Column<AnsweredResult | undefined> {
  /** The values of a lookup for them; undefined where there is none. */
  known<Value>(lookup: Lookup<AnsweredResult, Value>): Column<Value | undefined>;
}

/** The partners of some turns among the turns of another arm. */
export function partnersOf(turns: Turns, others: Turns): Partners {
  const places = partnerPlaces(turns)(others);
  const beside = <Value>(of: Column<Value>): Column<Value | undefined> => ({
    at: (index) => (places[index] === NONE ? undefined : of.at(places[index]!)),
  });
  return { ...beside({ at: (place) => others[place]! }), known: (lookup) => beside(lookedUp(others, lookup)) };
}
