import { baselineArm, findComparison, prefixCacheArm } from '../src/report/find-arms-and-comparisons.ts';
import { primaryMetric } from '../src/report/metric-display.ts';
import { differenceToBaseline } from '../src/report/tables/table-parts.ts';
import { type ItemColumn, itemRows, numberColumn, type Table, textCell } from '../src/render/table.ts';
import { formatRatio } from '../src/render/format-number.ts';
import type { ArmResults, CostName, RunResults } from '../src/store/records/run-results.ts';

/** A table for a document, whose own words replace caption and notes. */
export type BareTable = Omit<Table, 'id' | 'caption' | 'notes'>;

/**
 * What each way to give memories loses and costs against text: answers, tokens evaluated, time to first token. Without controls.
 * @throws Error for a run without `rag`
 */
export function qualityAndCostTable(results: RunResults): BareTable {
  const rag = baselineArm(results.arms)?.arm;
  if (rag === undefined) throw new Error(`${results.run.name}: rag is needed`);
  const cached = prefixCacheArm(results.arms)?.arm;
  const shown = results.arms.filter(
    ({ arm, traits: { injects, control } }) =>
      arm === rag || arm === cached || (injects !== 'nothing' && control === null),
  );
  const ratio = (heading: string, metric: CostName): ItemColumn<ArmResults> =>
    numberColumn(metric, heading, ({ arm }) => {
      const compared = findComparison(results, arm, rag, metric);
      return textCell(compared === undefined ? null : formatRatio(compared));
    });
  const columns = [
    differenceToBaseline(results, primaryMetric(results.run)),
    numberColumn<ArmResults>('tokens', 'tokens evaluated (hits)', ({ costHit }) => costHit?.tokens.evaluated),
    ratio('TTFT vs RAG (hits)', 'ttftLogRatio'),
    ratio('TTFT vs RAG (all turns)', 'ttftLogRatioAll'),
  ];
  return { rowHeading: 'arm', ...itemRows(shown, ({ arm }) => arm, [{ columns }]) };
}
