/**
 * The one number that covers both kinds of items: an answerable item succeeds by exact match, an absent one by
 * abstaining. Exactly one of the two is defined for an item.
 */
export function taskSuccess(exactMatch: number | null, abstention: number | null): number | null {
  return exactMatch ?? abstention;
}
