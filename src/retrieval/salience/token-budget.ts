/** Items within a token budget, and the rest of the budget. */
export interface Budgeted<Item> {
  readonly results: readonly Item[];
  readonly totalTokens: number;
  readonly budgetRemaining: number;
}

/**
 * Takes items in order up to the first that does not fit; smaller items behind it are not taken.
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
