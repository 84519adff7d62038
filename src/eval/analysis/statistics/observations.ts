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

/** Sums and counts by unit of sampling; both arrays have one entry a unit. */
export interface UnitTotals {
  readonly sums: Float64Array;
  readonly counts: Float64Array;
  /** Sum of the squares of all values. */
  readonly squares: number;
}

/**
 * Totals of the units that were drawn: the users, in the order of their ids, so that a result does not depend on the order in
 * which rows are read. A single user is no sample of users: then each observation is a unit, and nothing is said beyond that user.
 */
export function unitTotals(observations: Observations): UnitTotals {
  const totals = new Map<string, { sum: number; count: number }>();
  let squares = 0;
  for (const { userId, value } of observations) {
    const total = totals.get(userId) ?? { sum: 0, count: 0 };
    total.sum += value;
    total.count++;
    totals.set(userId, total);
    squares += value ** 2;
  }
  if (totals.size === 1) {
    const sums = Float64Array.from(observations, ({ value }) => value);
    return { sums, counts: new Float64Array(sums.length).fill(1), squares };
  }
  const ids = [...totals.keys()].sort();
  return {
    sums: Float64Array.from(ids, (id) => totals.get(id)!.sum),
    counts: Float64Array.from(ids, (id) => totals.get(id)!.count),
    squares,
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
