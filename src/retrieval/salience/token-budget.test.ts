import { describe, expect, test } from 'vitest';
import { withinBudget } from './salience-retriever.ts';

const items = [600, 500, 600, 100].map((tokenCount) => ({ tokenCount }));

describe('withinBudget', () => {
  test('stops at the first that does not fit, though a later one would', () => {
    const { results, totalTokens, budgetRemaining } = withinBudget(items, 1_500);
    expect(results.map(({ tokenCount }) => tokenCount)).toEqual([600, 500]);
    expect([totalTokens, budgetRemaining]).toEqual([1_100, 400]);
  });

  test('an exact fit fits', () => {
    expect(withinBudget(items, 1_700)).toMatchObject({ totalTokens: 1_700, budgetRemaining: 0 });
  });

  test('0 is a budget', () => {
    expect(withinBudget(items, 0)).toEqual({ results: [], totalTokens: 0, budgetRemaining: 0 });
  });
});
