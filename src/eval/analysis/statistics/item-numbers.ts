import { onceFor } from '../../../base/once-for.ts';
import type { TurnKey } from '../../../store/records/turn-record.ts';
import { countUsers, numberUsers, type UserColumn } from './observations.ts';
import { atPlaces, originOf } from './sublist.ts';

/** A turn as far as it is told which item it is of, and whose. */
export type TurnOfItem = Pick<TurnKey, 'itemId' | 'userId'>;

/** Stands for an item that the other list lacks. */
export const NONE = -1;

/** The items of a list of turns by number, in the order in which they come. */
export interface ItemNumbers {
  /** Of each turn. */
  readonly ofTurns: Uint32Array;
  readonly byId: ReadonlyMap<string, number>;
  /** Of each item. */
  readonly users: UserColumn;
  /** Room to compute in: what is asked of a few items shall cost no more than they do, and leave nothing to collect. */
  readonly room: Room;
}

interface Room {
  /** Of each turn; of no meaning whenever nobody computes with it. */
  readonly values: Float64Array;
  /** Of each item; of no meaning whenever nobody computes with it. */
  readonly inOrder: Uint32Array;
  /** Of each item; zero, or NONE, whenever nobody computes with it. */
  readonly sums: Float64Array;
  readonly counts: Uint32Array;
  readonly places: Int32Array;
}

/** A list is asked for many values: its items are looked up once. */
const itemNumbers = onceFor((turns: readonly TurnOfItem[]): ItemNumbers => {
  const byId = new Map<string, number>();
  const firstTurns: TurnOfItem[] = [];
  const ofTurns = new Uint32Array(turns.length);
  turns.forEach((turn, place) => {
    const { itemId } = turn;
    const number = byId.get(itemId);
    ofTurns[place] = number ?? firstTurns.length;
    if (number !== undefined) return;
    byId.set(itemId, firstTurns.length);
    firstTurns.push(turn);
  });
  const items = firstTurns.length;
  const room = {
    values: new Float64Array(turns.length),
    inOrder: new Uint32Array(items),
    sums: new Float64Array(items),
    counts: new Uint32Array(items),
    places: new Int32Array(items).fill(NONE),
  };
  return { ofTurns, byId, users: numberUsers(firstTurns), room };
});

/** The items of some turns. */
export interface ItemsOfTurns {
  /** Of all items of the list that the turns were picked out of. */
  readonly numbers: ItemNumbers;
  /** The number of the item of each turn. */
  readonly ofTurns: Uint32Array;
}

export const itemsOf = onceFor((turns: readonly TurnOfItem[]): ItemsOfTurns => {
  const { list, places } = originOf(turns);
  const numbers = itemNumbers(list);
  return { numbers, ofTurns: places === null ? numbers.ofTurns : atPlaces(numbers.ofTurns, places) };
});

/** The number of users of some turns. */
export function usersOf(turns: readonly TurnOfItem[]): number {
  const { numbers, ofTurns } = itemsOf(turns);
  const { userOf, userIds } = numbers.users;
  return countUsers({ userIds, userOf: ofTurns.map((item) => userOf[item]!) });
}

/** The number in `b` of each item of `a`; two lists are paired by many values, and their items matched once. */
export const matchItems = onceFor((a: ItemNumbers) =>
  onceFor((b: ItemNumbers) => {
    const match = new Int32Array(a.byId.size);
    for (const [id, number] of a.byId) match[number] = b.byId.get(id) ?? NONE;
    return match;
  }),
);
