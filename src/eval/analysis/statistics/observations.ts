/** A value or pair of values per item. Users are the sampling units: items of one user are not independent. */
export interface Observation {
  readonly userId: string;
  readonly value: number;
}

interface ItemValue extends Observation {
  readonly itemId: string;
}

export interface Pair {
  readonly userId: string;
  readonly a: number;
  readonly b: number;
}

/** Sums and counts by unit, and the sum of squares over all observations. */
export interface UnitTotals {
  readonly sums: readonly number[];
  readonly counts: readonly number[];
  readonly squares: number;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** NaN without values. */
export function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

/** Averages the repeats of each item. @param value null leaves a turn out */
export function perItem<Turn extends { readonly itemId: string; readonly userId: string }>(
  turns: readonly Turn[],
  value: (turn: Turn) => number | null,
): ItemValue[] {
  const items = new Map<string, { readonly userId: string; sum: number; count: number }>();
  for (const turn of turns) {
    const one = value(turn);
    if (one === null) continue;
    const item = items.get(turn.itemId) ?? { userId: turn.userId, sum: 0, count: 0 };
    item.sum += one;
    item.count++;
    items.set(turn.itemId, item);
  }
  return Array.from(items, ([itemId, { userId, sum, count }]) => ({ itemId, userId, value: sum / count }));
}

export function pairItems(a: readonly ItemValue[], b: readonly ItemValue[]): Pair[] {
  const others = new Map(b.map(({ itemId, value }) => [itemId, value]));
  return a.flatMap(({ itemId, userId, value }) => {
    const other = others.get(itemId);
    return other === undefined ? [] : [{ userId, a: value, b: other }];
  });
}

export function sideValues(pairs: readonly Pair[], side: 'a' | 'b'): Observation[] {
  return pairs.map((pair) => ({ userId: pair.userId, value: pair[side] }));
}

export function differences(pairs: readonly Pair[]): Observation[] {
  return pairs.map(({ userId, a, b }) => ({ userId, value: a - b }));
}

/** Totals by user, sorted by id. With a single user, each observation is a unit. */
export function unitTotals(observations: readonly Observation[]): UnitTotals {
  const values = observations.map(({ value }) => value);
  const squares = sum(values.map((value) => value * value));
  const byUser = Map.groupBy(observations, ({ userId }) => userId);
  if (byUser.size === 1) return { sums: values, counts: values.map(() => 1), squares };
  const units = [...byUser.keys()].sort().map((userId) => byUser.get(userId)!);
  const sums = units.map((unit) => unit.reduce((total, { value }) => total + value, 0));
  return { sums, counts: units.map(({ length }) => length), squares };
}

export function countUsers(list: readonly { readonly userId: string }[]): number {
  return new Set(list.map(({ userId }) => userId)).size;
}
