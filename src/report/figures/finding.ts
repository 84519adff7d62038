import type { Comparison, RunResults } from '../../records/results.ts';
import { primaryMetric, type ShownMetric } from '../shown-metric.ts';
import { formatNumber } from '../table.ts';
import { baselineOf, primaryOf } from '../verdict.ts';

/** The quality of an arm against the baseline: `loses 16.7 points of contains`. */
function qualityWords(compared: Comparison, metric: ShownMetric): string {
  const { verdict, delta } = compared;
  const size = `${formatNumber(Math.abs(delta * metric.scale), metric.digits)} ${metric.differenceUnit} of ${metric.label}`;
  switch (verdict) {
    case 'identical':
      return 'gives its answers bit by bit';
    case 'kept':
      return `keeps its ${metric.label}`;
    case 'lost':
      return `loses ${size}`;
    default:
      return `differs by ${delta < 0 ? '−' : ''}${size}, undecided`;
  }
}

/**
 * The finding of quality against time in a sentence: the primary arm, and the first planned one that injects, beside the baseline.
 * Undefined where nothing was compared.
 */
export function frontierFinding(results: RunResults): string | undefined {
  const { arms, comparisons, run } = results;
  const baseline = baselineOf(arms)?.arm;
  const metric = primaryMetric(run);
  const joined = arms.find(({ traits }) => traits.comparison === 'planned' && traits.injects === 'memories');
  const clauses = [primaryOf(arms), joined].flatMap((arm) => {
    const against = (name: string) =>
      comparisons.find((one) => one.metric === name && one.a === arm?.arm && one.b === baseline);
    const [quality, time] = [against(metric.name), against('ttftLogRatio')];
    if (arm === undefined || quality === undefined) return [];
    const ratio = time === undefined ? '' : ` in ${formatNumber(Math.exp(time.delta), 2)} of its time`;
    return [`${arm.arm} ${qualityWords(quality, metric)}${ratio}`];
  });
  return clauses.length === 0 ? undefined : `Against ${baseline!}, ${clauses.join('; ')}`;
}
