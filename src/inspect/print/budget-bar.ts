import type { AnsweredTurn } from '../stored-turn.ts';
import { budgetParts } from '../turn/budget-parts.ts';

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
  const weights = budgetParts.map(({ key }) => Math.max(0, budget[key]));
  const counts = shared(weights, width);
  const legend = budgetParts.map(({ mark, name }, index) => `${mark} ${name} ${weights[index]!}`);
  return [budgetParts.map(({ mark }, index) => mark.repeat(counts[index]!)).join(''), legend.join('  ')];
}
