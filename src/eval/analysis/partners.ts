import { onceFor } from '../../config/once-for.ts';
import type { AnsweredResult } from '../../records/turn-result.ts';
import type { Column } from './statistics/column.ts';
import { itemsOf, matchItems, NONE } from './statistics/item-numbers.ts';

type Turns = readonly AnsweredResult[];

/** The places of the turns of an arm, by item and repeat. */
const placesOf = onceFor((turns: Turns) => {
  const items = itemsOf(turns);
  const repeats = 1 + turns.reduce((most, { repeat }) => Math.max(most, repeat), 0);
  const places = new Int32Array(items.numbers.byId.size * repeats).fill(NONE);
  turns.forEach(({ repeat }, place) => {
    places[items.ofTurns[place]! * repeats + repeat] = place;
  });
  return { repeats, places };
});

/** The place of each turn's partner among the turns of another arm; NONE where that has none. */
const partnerPlaces = onceFor((turns: Turns) =>
  onceFor((others: Turns): Int32Array => {
    const items = itemsOf(turns);
    const match = matchItems(items.numbers)(itemsOf(others).numbers);
    const { repeats, places } = placesOf(others);
    const partners = new Int32Array(turns.length).fill(NONE);
    turns.forEach(({ repeat }, index) => {
      const item = match[items.ofTurns[index]!]!;
      if (item !== NONE && repeat < repeats) partners[index] = places[item * repeats + repeat]!;
    });
    return partners;
  }),
);

/** The turn of another arm beside each of some turns, on the same item and repeat; undefined where that arm has none. */
export function partnersOf(turns: Turns, others: Turns): Column<AnsweredResult | undefined> {
  const places = partnerPlaces(turns)(others);
  return { at: (index) => (places[index] === NONE ? undefined : others[places[index]!]) };
}
