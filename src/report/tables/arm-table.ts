import type { ArmResults, RunResults } from '../../store/records/results.ts';
import type { Estimate } from '../../store/records/estimate.ts';
import { intervalColumn, type ItemBlock, type ItemColumn, itemRows, numberColumn, type Table } from '../../render/table.ts'; // prettier-ignore
import { baselineArm, findComparison } from '../compared-arms.ts';
import { titleWithProof } from '../proof.ts';
import { metricNamed, type ShownMetric } from '../shown-metric.ts';

/** A table with one row per arm of a run. */
export function armTable(
  results: RunResults,
  {
    title,
    blocks,
    ...table
  }: Pick<Table, 'id' | 'notes'> & { title: string; blocks: readonly ItemBlock<ArmResults>[] },
): Table {
  return {
    ...table,
    caption: titleWithProof(title, results),
    rowHeading: 'arm',
    ...itemRows(results.arms, ({ arm }) => arm, blocks),
  };
}

/** The column of a built-in metric. */
export function metricColumn(run: RunResults['run'], name: string): ItemColumn<Pick<ArmResults, 'metrics'>> {
  return metricNamed(run, name)!.column();
}

/** The column with the difference of each arm to the baseline by a metric. */
export function differenceToBaseline(
  results: RunResults,
  metric: ShownMetric,
  key = 'difference',
): ItemColumn<{ readonly arm: string }> {
  const baseline = baselineArm(results.arms)?.arm;
  return metric.differenceColumn(key, 'Δ vs RAG', ({ arm }) => findComparison(results, arm, baseline, metric.name));
}

/** A column of times with intervals, in ms. */
export function timeColumn(
  key: string,
  heading: string,
  estimate: (arm: ArmResults) => Estimate | null | undefined,
): ItemColumn<ArmResults> {
  return intervalColumn(key, `${heading} (ms)`, (arm) => estimate(arm));
}

/** The column with the share of cache hits. */
export const hitRateColumn: ItemColumn<ArmResults> = numberColumn('hitRate', 'hit rate (%)', ({ hitRate }) =>
  hitRate === null ? null : hitRate * 100,
);
