import { type Lookup, notNaN } from './column.ts';
import { type ItemNumbers, itemsOf, matchItems, NONE, type TurnOfItem } from './item-numbers.ts';
import type { Observations, PairedObservations } from './observations.ts';
import { copyNumbers } from './sublist.ts';

/** A value of turns, which a list of all turns of a run looks up once; null where a turn has none. */
export type Measure<Turn> = Lookup<Turn, number | null>;

/** A value that is asked for once, of a turn and its place in the list. */
type Value<Turn> = (turn: Turn, place: number) => number | null;

/** One value an item, and which item it is. */
interface ItemObservations extends Observations {
  readonly numbers: ItemNumbers;
  /** The number of the item at each place. */
  readonly itemOf: Uint32Array;
}

/**
 * The values of some turns, in their order, NaN where one has none; whoever asks next writes over them.
 * @throws RangeError on what is not a number
 */
function valuesOf<Turn>(
  turns: readonly Turn[],
  value: Measure<Turn> | Value<Turn>,
  { values: room }: ItemNumbers['room'],
): Float64Array {
  const values = room.subarray(0, turns.length);
  if (typeof value !== 'function') copyNumbers(turns, value, values);
  else for (let place = 0; place < values.length; place++) values[place] = notNaN(value(turns[place]!, place)) ?? NaN;
  return values;
}

/** The sum of a value over some turns; null where none has one. */
export function sumOf<Turn extends TurnOfItem>(turns: readonly Turn[], measure: Measure<Turn>): number | null {
  let sum: number | null = null;
  for (const one of valuesOf(turns, measure, itemsOf(turns).numbers.room)) {
    if (!Number.isNaN(one)) sum = (sum ?? 0) + one;
  }
  return sum;
}

/** The value of every item, averaged over its repeats; turns without a value are left out. */
export function perItem<Turn extends TurnOfItem>(
  turns: readonly Turn[],
  value: Measure<Turn> | Value<Turn>,
): ItemObservations {
  const { numbers, ofTurns } = itemsOf(turns);
  const { users, room } = numbers;
  const { sums, counts, inOrder } = room;
  const column = valuesOf(turns, value, room);
  let items = 0;
  for (let index = 0; index < column.length; index++) {
    const one = column[index]!;
    if (Number.isNaN(one)) continue;
    const item = ofTurns[index]!;
    sums[item]! += one;
    if (counts[item]!++ === 0) inOrder[items++] = item;
  }
  const itemOf = inOrder.slice(0, items);
  const userOf = new Uint32Array(items);
  const values = new Float64Array(items);
  for (let place = 0; place < items; place++) {
    const item = itemOf[place]!;
    userOf[place] = users.userOf[item]!;
    values[place] = sums[item]! / counts[item]!;
    sums[item] = 0;
    counts[item] = 0;
  }
  return { numbers, itemOf, userIds: users.userIds, userOf, values };
}

/** The items that both have, side by side, in the order of `a`. */
export function paired(a: ItemObservations, b: ItemObservations): PairedObservations {
  const match = matchItems(a.numbers)(b.numbers);
  const { places: placesInB } = b.numbers.room;
  for (let place = 0; place < b.itemOf.length; place++) placesInB[b.itemOf[place]!] = place;
  const most = Math.min(a.values.length, b.values.length);
  const pairs = { userOf: new Uint32Array(most), a: new Float64Array(most), b: new Float64Array(most) };
  let found = 0;
  for (let place = 0; place < a.itemOf.length; place++) {
    const item = match[a.itemOf[place]!]!;
    const placeInB = item === NONE ? NONE : placesInB[item]!;
    if (placeInB === NONE) continue;
    pairs.userOf[found] = a.userOf[place]!;
    pairs.a[found] = a.values[place]!;
    pairs.b[found++] = b.values[placeInB]!;
  }
  for (const item of b.itemOf) placesInB[item] = NONE;
  return {
    userIds: a.userIds,
    userOf: pairs.userOf.slice(0, found),
    a: pairs.a.slice(0, found),
    b: pairs.b.slice(0, found),
  };
}
