import type { AnsweredTurn } from './stored-turn.ts';

const parts = [
  { key: 'fixedTokens', mark: '█', name: 'fixed' },
  { key: 'memoryTokens', mark: '▓', name: 'memories' },
  { key: 'historyTokens', mark: '▒', name: 'history' },
  { key: 'freeTokens', mark: '·', name: 'free' },
  { key: 'reserveTokens', mark: '░', name: 'reserve' },
] as const;

/** Shares a number of columns by weight, largest remainders last to miss; what is there gets at least one. */
function shared(weights: readonly number[], columns: number): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const counts = weights.map((weight) => (weight > 0 ? Math.max(1, Math.round((weight / total) * columns)) : 0));
  const excess = counts.reduce((sum, count) => sum + count, 0) - columns;
  counts[counts.indexOf(Math.max(...counts))]! -= excess;
  return counts;
}

/**
 * How the window was spent, as a bar of `width` columns with its legend below. Reserved parts of the budget that were
 * counted with wider labels than they got stand as they were counted.
 */
export function budgetBar(budget: AnsweredTurn['promptInfo']['budget'], width: number): string[] {
  const weights = parts.map(({ key }) => Math.max(0, budget[key]));
  const counts = shared(weights, width);
  const legend = parts.map(({ mark, name }, index) => `${mark} ${name} ${weights[index]!}`);
  return [parts.map(({ mark }, index) => mark.repeat(counts[index]!)).join(''), legend.join('  ')];
}
