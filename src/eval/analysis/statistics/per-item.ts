import { onceFor } from '../../../config/once-for.ts';
import type { TurnKey } from '../../../records/turn-record.ts';
import { numberUsers, type Observations, type PairedObservations, type UserColumn } from './observations.ts';

type TurnOfItem = Pick<TurnKey, 'itemId' | 'userId'>;

/** The items of a list of turns by number, in the order in which they come. */
interface ItemNumbers {
  /** Of each turn. */
  readonly ofTurns: Uint32Array;
  readonly byId: ReadonlyMap<string, number>;
  /** Of each item. */
  readonly users: UserColumn;
}

/** One value an item, and which item it is. */
interface ItemObservations extends Observations {
  readonly numbers: ItemNumbers;
  /** The number of the item at each place. */
  readonly itemOf: Uint32Array;
}

/** A list is asked for many values: its items are looked up once. */
const itemNumbers = onceFor((turns: readonly TurnOfItem[]): ItemNumbers => {
  const byId = new Map<string, number>();
  const firstTurns: TurnOfItem[] = [];
  const ofTurns = Uint32Array.from(turns, (turn) => {
    const number = byId.get(turn.itemId);
    if (number !== undefined) return number;
    byId.set(turn.itemId, firstTurns.length);
    return firstTurns.push(turn) - 1;
  });
  return { ofTurns, byId, users: numberUsers(firstTurns) };
});

/** A value of every item, averaged over its repeats; turns without that value are left out. */
export function perItem<Turn extends TurnOfItem>(
  turns: readonly Turn[],
  value: (turn: Turn) => number | null,
): ItemObservations {
  const numbers = itemNumbers(turns);
  const { ofTurns, byId, users } = numbers;
  const sums = new Float64Array(byId.size);
  const counts = new Uint32Array(byId.size);
  const inOrder = new Uint32Array(byId.size);
  let items = 0;
  turns.forEach((turn, place) => {
    const one = value(turn);
    if (one === null) return;
    const item = ofTurns[place]!;
    sums[item]! += one;
    if (counts[item]!++ === 0) inOrder[items++] = item;
  });
  const itemOf = inOrder.subarray(0, items);
  return {
    numbers,
    itemOf,
    userIds: users.userIds,
    userOf: itemOf.map((item) => users.userOf[item]!),
    values: Float64Array.from(itemOf, (item) => sums[item]! / counts[item]!),
  };
}

/** Stands for an item that the other list lacks. */
const NONE = -1;

/** The number in `b` of each item of `a`; two lists are paired by many values, and their items matched once. */
const matchItems = onceFor((a: ItemNumbers) =>
  onceFor((b: ItemNumbers) => Int32Array.from(a.byId.keys(), (id) => b.byId.get(id) ?? NONE)),
);

/** The items that both have, side by side, in the order of `a`. */
export function paired(a: ItemObservations, b: ItemObservations): PairedObservations {
  const match = matchItems(a.numbers)(b.numbers);
  const placesInB = new Int32Array(b.numbers.byId.size).fill(NONE);
  b.itemOf.forEach((item, place) => (placesInB[item] = place));
  const placeInB = (place: number): number => placesInB[match[a.itemOf[place]!]!] ?? NONE;
  const places = Uint32Array.from(a.itemOf.keys()).filter((place) => placeInB(place) !== NONE);
  return {
    userIds: a.userIds,
    userOf: places.map((place) => a.userOf[place]!),
    a: Float64Array.from(places, (place) => a.values[place]!),
    b: Float64Array.from(places, (place) => b.values[placeInB(place)]!),
  };
}
