import type { MethodResults, RunResults } from '../../store/records/results.ts';
import type { ShownMetric } from '../shown-metric.ts';
import { capitalised, listed, lossText, sortedDifferences } from './finding.ts';

/** Methods that a title names. */
const NAMED = 3;

function againstRandom(methods: readonly MethodResults[]): string {
  const tested = methods.filter(({ againstRandom: difference }) => (difference?.pAdjusted ?? null) !== null);
  if (tested.length === 0) return 'none was tested against tokens drawn at random';
  const better = tested.filter(({ againstRandom: difference }) => difference!.outcome === 'better');
  if (better.length === 0) return `none of ${tested.length} is shown to be better than tokens drawn at random`;
  const more = better.length > NAMED ? [`${better.length - NAMED} more`] : [];
  const named = listed([...better.slice(0, NAMED).map(({ arm }) => arm), ...more]);
  return `${better.length} of ${tested.length} ${better.length === 1 ? 'is' : 'are'} better than tokens drawn at random: ${named}`;
}

/**
 * The finding of many methods: how many lose quality against the text, by their intervals, and which of them do better than tokens
 * drawn at random, by the test of all.
 */
export function methodsFinding(results: RunResults, text: string, metric: ShownMetric): string {
  const { comparisons, methods = [] } = results;
  const own = methods.filter(({ kind }) => kind !== 'reference');
  const names = new Set(own.map(({ arm }) => arm));
  const compared = comparisons.filter((one) => one.metric === metric.name && one.b === text && names.has(one.a));
  const { lower } = sortedDifferences(compared);
  const most = lower.toSorted((a, b) => a.delta - b.delta)[0];
  const losing =
    most === undefined
      ? `none of ${compared.length} methods is shown to lose ${metric.label} against ${text}`
      : `${lower.length} of ${compared.length} methods lose ${metric.label} against ${text} by their 95 % intervals, most ${most.a}, ${lossText(most, metric)}`;
  return `${capitalised(losing)}; ${againstRandom(own)}`;
}
