import type { ConditionResults, Estimate, RunResults } from '../../store/records/results.ts';
import { formatNumber } from '../../render/table.ts';
import { baselineOf } from '../verdict.ts';
import { changeFinding } from './finding.ts';
import { joinedOf } from './frontier-finding.ts';

/** Curves of a figure: conditions, and the quality that it shows of them. */
export interface Curves {
  /** Those that are drawn in one panel, of all its arms; not empty. */
  readonly conditions: readonly ConditionResults[];
  readonly quality: (metrics: ConditionResults['metrics']) => Estimate | null;
  readonly scale: 1 | 100;
  /** Of the quality: `exact match`, `%`. */
  readonly label: string;
  readonly unit: string;
  /** The first condition and the last in words: `from 1 to 80 memories`. */
  readonly range: (first: number, last: number) => string;
}

/** Arms that a title names. */
const NAMED_ARMS = 2;

/**
 * The finding of quality by condition, from the first to the last: `from 1 to 80 memories, exact match of rag shows no change
 * (95.8 and 89.6 %), of dki-blocks falls from …`. Of the baseline and of the first planned arm that injects, or else of the first arms.
 */
export function curvesFinding(results: RunResults, curves: Curves): string {
  const { conditions, quality, scale, label, unit, range } = curves;
  const steps = conditions.map(({ condition }) => condition);
  const [first, last] = [Math.min(...steps), Math.max(...steps)];
  const baseOf = (arm: string): string => results.arms.find((one) => one.arm === arm)?.traits.base ?? arm;
  const drawn = [...new Set(conditions.map(({ arm }) => baseOf(arm)))];
  const usual = [baselineOf(results.arms), joinedOf(results.arms)].flatMap((arm) => arm?.traits.base ?? []);
  const named = usual.some((base) => drawn.includes(base)) ? usual : drawn.slice(0, NAMED_ARMS);
  const clauses = named.flatMap((base) => {
    const measured = (step: number) => {
      const found = conditions.find(({ arm, condition }) => condition === step && baseOf(arm) === base);
      const estimate = found === undefined ? null : quality(found.metrics);
      if (estimate === null) return [];
      const { mean, low, high } = estimate;
      return [{ mean: mean * scale, low: low * scale, high: high * scale }];
    };
    const [from] = measured(first);
    const [to] = measured(last);
    if (from === undefined || to === undefined) return [];
    return [`of ${base} ${first === last ? `is ${formatNumber(to.mean, 1)} ${unit}` : changeFinding(from, to, unit)}`];
  });
  return `${range(first, last)}, ${label} ${clauses.join(', ')}`;
}
