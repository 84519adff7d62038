import { type Column, columnOf, type Lookup, readerOf } from './column.ts';

/** A list, and the places of some of its members. */
export interface Sublist<Member> {
  readonly list: readonly Member[];
  /** Ascending; null for all of them. */
  readonly places: Uint32Array | null;
}

const origins = new WeakMap<readonly unknown[], Sublist<unknown>>();

/** The list that a list was picked out of by `where` or `groupedBy`, through however many; any other list is all of itself. */
export function originOf<Member>(list: readonly Member[]): Sublist<Member> {
  return (origins.get(list) as Sublist<Member> | undefined) ?? { list, places: null };
}

/** The column of a lookup for the members of a list, which its origin looks up. */
export function lookedUp<Member, Value>(members: readonly Member[], lookup: Lookup<Member, Value>): Column<Value> {
  const { list, places } = originOf(members);
  const column = columnOf(list, lookup);
  return places === null ? column : { at: (index) => column.at(places[index]!) };
}

/**
 * Writes the numbers of a lookup for the members of a list, in their order; NaN stands for null.
 * @throws RangeError on a value that is no number
 */
export function copyNumbers<Member>(
  members: readonly Member[],
  lookup: Lookup<Member, number | null>,
  into: Float64Array,
): void {
  const { list, places } = originOf(members);
  columnOf(list, lookup).copyNumbers(places, into);
}

/** The numbers of a column that stand at some places. */
export function atPlaces(column: Uint32Array, places: Uint32Array): Uint32Array {
  const found = new Uint32Array(places.length);
  for (let index = 0; index < found.length; index++) found[index] = column[places[index]!]!;
  return found;
}

/** Of some of its members a list, whose origin is known. */
function picked<Member>(from: readonly Member[], places: Uint32Array): readonly Member[] {
  const { list, places: inList } = originOf(from);
  const found = new Array<Member>(places.length);
  for (let index = 0; index < found.length; index++) found[index] = from[places[index]!]!;
  origins.set(found, { list, places: inList === null ? places : atPlaces(inList, places) });
  return found;
}

/** As `filter`: the members of which a condition holds. */
export function where<Member>(
  list: readonly Member[],
  holds: (member: Member, place: number) => boolean,
): readonly Member[] {
  const places = new Uint32Array(list.length);
  let found = 0;
  for (let place = 0; place < places.length; place++) if (holds(list[place]!, place)) places[found++] = place;
  return found === list.length ? list : picked(list, places.slice(0, found));
}

/** The members of which a lookup says what meets a condition. */
export function whereOf<Member, Value>(
  members: readonly Member[],
  lookup: Lookup<Member, Value>,
  holds: (value: Value) => boolean,
): readonly Member[] {
  const value = readerOf(members, lookup);
  return where(members, (_, place) => holds(value(place)));
}

/** The number of members of which a lookup says what meets a condition; its column is kept. */
export function countOf<Member, Value>(
  members: readonly Member[],
  lookup: Lookup<Member, Value>,
  holds: (value: Value) => boolean,
): number {
  const values = lookedUp(members, lookup);
  let count = 0;
  for (let place = 0; place < members.length; place++) if (holds(values.at(place))) count++;
  return count;
}

/** As `Map.groupBy`: the members by their labels. */
export function groupedBy<Member, Word>(
  members: readonly Member[],
  label: Lookup<Member, Word>,
): Map<Word, readonly Member[]> {
  const labels = lookedUp(members, label);
  const places = new Map<Word, number[]>();
  for (let place = 0; place < members.length; place++) {
    const word = labels.at(place);
    const known = places.get(word);
    if (known === undefined) places.set(word, [place]);
    else known.push(place);
  }
  return new Map([...places].map(([word, some]) => [word, picked(members, new Uint32Array(some))]));
}
