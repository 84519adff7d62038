import type { Observation } from '../statistics/observations.ts';
import type { AnsweredTurn } from '../stored-turn.ts';

/** One value an item. */
export interface ItemObservation extends Observation {
  readonly itemId: string;
}

/** A value of every item, averaged over its repeats; turns without that value are left out. */
export function perItem<Turn extends Pick<AnsweredTurn, 'itemId' | 'userId'>>(
  turns: readonly Turn[],
  value: (turn: Turn) => number | null,
): ItemObservation[] {
  const items = new Map<string, { userId: string; sum: number; count: number }>();
  for (const turn of turns) {
    const one = value(turn);
    if (one === null) continue;
    const item = items.get(turn.itemId) ?? { userId: turn.userId, sum: 0, count: 0 };
    item.sum += one;
    item.count++;
    items.set(turn.itemId, item);
  }
  return [...items].map(([itemId, { userId, sum, count }]) => ({ itemId, userId, value: sum / count }));
}

/** The items that both have, side by side, in the order of `a`. */
export function paired(
  a: readonly ItemObservation[],
  b: readonly ItemObservation[],
): { readonly userId: string; readonly a: number; readonly b: number }[] {
  const others = new Map(b.map((observation) => [observation.itemId, observation.value]));
  return a.flatMap(({ itemId, userId, value }) => {
    const other = others.get(itemId);
    return other === undefined ? [] : [{ userId, a: value, b: other }];
  });
}
