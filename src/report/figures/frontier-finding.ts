import type { ArmResults, RunResults } from '../../records/results.ts';
import { primaryMetric } from '../shown-metric.ts';
import { baselineOf, primaryOf } from '../verdict.ts';
import { qualityFinding, timeFinding } from './finding.ts';

/** The first planned arm that injects what memories say, joined; undefined if it did not run. */
export function joinedOf(arms: readonly ArmResults[]): ArmResults | undefined {
  return arms.find(({ traits }) => traits.comparison === 'planned' && traits.injects === 'memories');
}

/**
 * The finding of quality against time in a sentence: the primary arm, and the first planned one that injects, beside the baseline.
 * Undefined where nothing was compared.
 */
export function frontierFinding(results: RunResults): string | undefined {
  const { arms, comparisons, run } = results;
  const baseline = baselineOf(arms)?.arm;
  const metric = primaryMetric(run);
  const clauses = [primaryOf(arms), joinedOf(arms)].flatMap((arm) => {
    const against = (name: string) =>
      comparisons.find((one) => one.metric === name && one.a === arm?.arm && one.b === baseline);
    const [quality, time] = [against(metric.name), against('ttftLogRatio')];
    if (arm === undefined || quality === undefined) return [];
    return [`${arm.arm} ${qualityFinding(quality, metric)}${time === undefined ? '' : ` ${timeFinding(time)}`}`];
  });
  return clauses.length === 0 ? undefined : `Against ${baseline!}, ${clauses.join('; ')}`;
}
