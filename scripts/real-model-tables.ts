import { baselineArm, findComparison, prefixCacheArm } from '../src/report/find-arms-and-comparisons.ts';
import { primaryMetric } from '../src/report/metric-display.ts';
import { methodsTable } from '../src/report/topics/methods.ts';
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
  ];
  return { rowHeading: 'arm', ...itemRows(shown, ({ arm }) => arm, [{ columns }]) };
}

/** Arms of table 11 that a page has room for: the baselines, and the best or simplest of each kind. */
const SHOWN_ARMS = [
  ...['rag', 'rag-cached', 'dki', 'dki@store=q8_0', 'dki@store=q4_0', 'dki-blocks', 'dki-blocks@context=previous'],
  ...['dki-parallel', 'dki-link:4', 'dki-random:.15', 'dki-ranked:.15', 'dki-cacheblend:.15', 'dki-informative:.15'],
  ...['dki-query:.15', 'dki-evict-lagkv:.5', 'dki-blocks-evict-lagkv:.5'],
];
const SHOWN_COLUMNS = ['kept', 'difference', 'evaluated', 'timesRag'];

/** Some columns of a table as one block. */
export function pickColumns({ rowHeading, blocks, rows }: BareTable, keys: readonly string[]): BareTable {
  const columns = new Map(blocks.flatMap((block) => block.columns).map((column) => [column.key, column]));
  return { rowHeading, blocks: [{ columns: keys.map((key) => columns.get(key)!) }], rows };
}

/** Table 11 in brief: quality and price of some arms. */
export function methodsInBrief(results: RunResults): BareTable {
  const table = methodsTable(results);
  if (table === undefined) throw new Error(`${results.run.name}: a run that compares methods is needed`);
  const { rows, ...columns } = pickColumns(table, SHOWN_COLUMNS);
  return { ...columns, rows: rows.filter(({ label }) => SHOWN_ARMS.includes(label)) };
}
