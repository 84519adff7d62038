/** What fits, and what is left. */
export interface Budgeted<Item> {
  readonly results: readonly Item[];
  readonly totalTokens: number;
  readonly budgetRemaining: number;
}

/**
 * Takes items in their order up to the first that does not fit: a smaller one behind it never overtakes.
 *
 * @see seed 002 §5
 */
export function withinBudget<Item extends { readonly tokenCount: number }>(
  items: readonly Item[],
  budgetTokens: number,
): Budgeted<Item> {
  let totalTokens = 0;
  const results: Item[] = [];
  for (const item of items) {
    if (totalTokens + item.tokenCount > budgetTokens) break;
    results.push(item);
    totalTokens += item.tokenCount;
  }
  return { results, totalTokens, budgetRemaining: budgetTokens - totalTokens };
}
