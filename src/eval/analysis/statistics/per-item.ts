import { onceFor } from '../../../config/once-for.ts';
import { type ItemNumbers, itemNumbers, matchItems, NONE, type TurnOfItem } from './item-numbers.ts';
import type { Observations, PairedObservations } from './observations.ts';
import { originOf } from './sublist.ts';

/** A value of turns: a list of all turns of a run knows the values of those that were asked for once. */
export interface Measure<Turn> {
  /** Null where the turn has none. */
  of(turn: Turn): number | null;
}

/** A value that is asked for once, of a turn and its place in the list. */
type Value<Turn> = (turn: Turn, place: number) => number | null;

/** One value an item, and which item it is. */
interface ItemObservations extends Observations {
  readonly numbers: ItemNumbers;
  /** The number of the item at each place. */
  readonly itemOf: Uint32Array;
}

/** @throws RangeError on what is no number: it would stand for no value */
function numberOf(value: number | null): number {
  if (Number.isNaN(value)) throw new RangeError('a value of a turn is not a number');
  return value ?? NaN;
}

/** The values of a list, NaN where a turn has none. */
function valuesOf<Turn>(turns: readonly Turn[], value: Value<Turn>): Float64Array {
  const values = new Float64Array(turns.length);
  for (let place = 0; place < values.length; place++) values[place] = numberOf(value(turns[place]!, place));
  return values;
}

/**
 * The values of a measure of every turn of a list. They are looked up in the order of the list, which is how turns stand in memory,
 * and not arm by arm.
 */
const columnsOf = onceFor((turns: readonly unknown[]) =>
  onceFor((measure: Measure<never>) => valuesOf(turns, (turn) => measure.of(turn as never))),
);

/** The values of some turns, in their order. */
function columnOf<Turn>(turns: readonly Turn[], value: Measure<Turn> | Value<Turn>): Float64Array {
  if (typeof value === 'function') return valuesOf(turns, value);
  const { list, places } = originOf(turns);
  const column = columnsOf(list)(value);
  if (places === null) return column;
  const values = new Float64Array(places.length);
  for (let index = 0; index < values.length; index++) values[index] = column[places[index]!]!;
  return values;
}

/** The sum of a value over some turns; null where none has one. */
export function sumOf<Turn>(turns: readonly Turn[], measure: Measure<Turn>): number | null {
  let sum: number | null = null;
  for (const one of columnOf(turns, measure)) if (!Number.isNaN(one)) sum = (sum ?? 0) + one;
  return sum;
}

/** The value of every item, averaged over its repeats; turns without a value are left out. */
export function perItem<Turn extends TurnOfItem>(
  turns: readonly Turn[],
  value: Measure<Turn> | Value<Turn>,
): ItemObservations {
  const { list, places } = originOf(turns);
  const numbers = itemNumbers(list);
  const column = columnOf(turns, value);
  const { ofTurns, users, room } = numbers;
  const { sums, counts } = room;
  const inOrder = new Uint32Array(turns.length);
  let items = 0;
  for (let index = 0; index < column.length; index++) {
    const one = column[index]!;
    if (Number.isNaN(one)) continue;
    const item = ofTurns[places === null ? index : places[index]!]!;
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
