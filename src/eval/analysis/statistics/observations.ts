/** One value of an item, averaged over its repeats, and the user it belongs to. */
export interface Observation {
  readonly userId: string;
  readonly value: number;
}

/** Observations that are gone through one by one: an array, or what makes each as it is asked for. */
export interface Observations<One extends Observation = Observation> extends Iterable<One> {
  readonly length: number;
}

/** Two arms' values of one item. */
export interface PairedObservation {
  readonly userId: string;
  readonly a: number;
  readonly b: number;
}

/** Sums and counts by user, the unit of resampling; both arrays have one entry a user. */
export interface UserTotals {
  readonly sums: Float64Array;
  readonly counts: Float64Array;
}

/** Users in the order of their ids, so that a result does not depend on the order in which rows are read. */
export function totalsByUser(observations: Observations): UserTotals {
  const totals = new Map<string, { sum: number; count: number }>();
  for (const { userId, value } of observations) {
    const total = totals.get(userId) ?? { sum: 0, count: 0 };
    total.sum += value;
    total.count++;
    totals.set(userId, total);
  }
  const ids = [...totals.keys()].sort();
  return {
    sums: Float64Array.from(ids, (id) => totals.get(id)!.sum),
    counts: Float64Array.from(ids, (id) => totals.get(id)!.count),
  };
}

/** Those of whom there is an observation. */
export function usersOf(observations: Observations): Set<string> {
  const users = new Set<string>();
  for (const { userId } of observations) users.add(userId);
  return users;
}

/** a − b for every pair. */
export function differences(pairs: readonly PairedObservation[]): Observation[] {
  return pairs.map(({ userId, a, b }) => ({ userId, value: a - b }));
}

/** The mean over items, each of equal weight; NaN without any. */
export function meanOf(observations: Observations): number {
  let total = 0;
  for (const { value } of observations) total += value;
  return total / observations.length;
}
