import type { ArmResults, RunResults } from '../../store/records/results.ts';
import { comparisonOf } from '../comparison-of.ts';
import { primaryMetric } from '../shown-metric.ts';
import { baselineOf, primaryOf } from '../verdict.ts';
import { qualityFinding, timeFinding } from './finding.ts';

/** The first planned arm that injects what memories say, joined; undefined if it did not run. */
export function joinedOf(arms: readonly ArmResults[]): ArmResults | undefined {
  return arms.find(({ traits }) => traits.comparison === 'planned' && traits.injects === 'memories');
}

/** Arms that a title names. */
const NAMED_ARMS = 2;

/**
 * The finding of quality against time in a sentence: the primary arm, and the first planned one that injects, or else those
 * that were planned, or any others, beside the baseline. Undefined where nothing was compared.
 */
export function frontierFinding(results: RunResults): string | undefined {
  const { arms, run } = results;
  const baseline = baselineOf(arms)?.arm;
  const metric = primaryMetric(run);
  const usual = [primaryOf(arms), joinedOf(arms)].filter((arm) => arm !== undefined);
  const others = arms.filter(({ traits }) => traits.control === null && traits.comparison !== 'baseline');
  const planned = others.filter(({ traits }) => traits.comparison === 'planned');
  const named = [usual, planned, others].find(({ length }) => length > 0) ?? [];
  const clauses = named.slice(0, NAMED_ARMS).flatMap((arm) => {
    const [quality, time] = [metric.name, 'ttftLogRatio'].map((name) => comparisonOf(results, arm.arm, baseline, name));
    if (quality === undefined) return [];
    return [`${arm.arm} ${qualityFinding(quality, metric)}${time === undefined ? '' : ` ${timeFinding(time)}`}`];
  });
  return clauses.length === 0 ? undefined : `Against ${baseline!}, ${clauses.join('; ')}`;
}
