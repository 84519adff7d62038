import { numbered } from '../../../base/numbered.ts';

/** A user each, for places of columns. */
export interface UserColumn {
  /** The number of the user at each place: an index into `userIds`. */
  readonly userOf: Uint32Array;
  /** Sorted, so that a result does not depend on the order in which rows are read; some may stand at no place. */
  readonly userIds: readonly string[];
}

/** Values of items, averaged over their repeats, one at each place. */
export interface Observations extends UserColumn {
  readonly values: Float64Array;
}

/** Two arms' values of the same items, one of each at each place. */
export interface PairedObservations extends UserColumn {
  readonly a: Float64Array;
  readonly b: Float64Array;
}

/** Sums and counts by unit of sampling; both arrays have one entry a unit. */
export interface UnitTotals {
  readonly sums: Float64Array;
  readonly counts: Float64Array;
  /** Sum of the squares of all values. */
  readonly squares: number;
}

interface OfUser {
  readonly userId: string;
}

/** The users of a list, numbered. */
export function numberUsers(list: readonly OfUser[]): UserColumn {
  const { numbers: userOf, sorted: userIds } = numbered(list.map(({ userId }) => userId));
  return { userOf, userIds };
}

/** The values of a list, in columns. */
export function observationsOf(list: readonly (OfUser & { readonly value: number })[]): Observations {
  return { ...numberUsers(list), values: Float64Array.from(list, ({ value }) => value) };
}

/** The pairs of a list, in columns. */
export function pairedObservationsOf(
  list: readonly (OfUser & { readonly a: number; readonly b: number })[],
): PairedObservations {
  return { ...numberUsers(list), a: Float64Array.from(list, ({ a }) => a), b: Float64Array.from(list, ({ b }) => b) };
}

/** One arm's values of pairs. */
export function sideOf(pairs: PairedObservations, side: 'a' | 'b'): Observations {
  return { userOf: pairs.userOf, userIds: pairs.userIds, values: pairs[side] };
}

/** The pairs of which a condition holds. */
export function pairsWhere(pairs: PairedObservations, holds: (a: number, b: number) => boolean): PairedObservations {
  const { a, b, userOf, userIds } = pairs;
  const some = { userOf: new Uint32Array(a.length), a: new Float64Array(a.length), b: new Float64Array(a.length) };
  let count = 0;
  for (let place = 0; place < a.length; place++) {
    if (!holds(a[place]!, b[place]!)) continue;
    some.userOf[count] = userOf[place]!;
    some.a[count] = a[place]!;
    some.b[count] = b[place]!;
    count++;
  }
  return {
    userIds,
    userOf: some.userOf.subarray(0, count),
    a: some.a.subarray(0, count),
    b: some.b.subarray(0, count),
  };
}

/** a − b for every pair. */
export function differences({ a, b, userOf, userIds }: PairedObservations): Observations {
  const values = new Float64Array(a.length);
  for (let place = 0; place < values.length; place++) values[place] = a[place]! - b[place]!;
  return { userOf, userIds, values };
}

/**
 * Totals of the units that were drawn: the users, in the order of their ids. A single user is no sample of users: then each
 * observation is a unit, and nothing is said beyond that user.
 */
export function unitTotals({ values, userOf, userIds }: Observations): UnitTotals {
  const sums = new Float64Array(userIds.length);
  const counts = new Float64Array(userIds.length);
  let squares = 0;
  for (let place = 0; place < values.length; place++) {
    const value = values[place]!;
    sums[userOf[place]!]! += value;
    counts[userOf[place]!]!++;
    squares += value * value;
  }
  const ofUsers = counts.filter((count) => count > 0);
  if (ofUsers.length === 1) return { sums: values.slice(), counts: new Float64Array(values.length).fill(1), squares };
  if (ofUsers.length === userIds.length) return { sums, counts, squares };
  return { sums: sums.filter((_, user) => counts[user]! > 0), counts: ofUsers, squares };
}

/** The number of users of whom there is a value. */
export function countUsers({ userOf, userIds }: UserColumn): number {
  const isThere = new Uint8Array(userIds.length);
  for (const user of userOf) isThere[user] = 1;
  return isThere.reduce((users, one) => users + one, 0);
}

/** The mean over items, each of equal weight; NaN without any. */
export function meanOf(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total / values.length;
}
