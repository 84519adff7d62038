import type { RunResults } from '../src/store/records/run-results.ts';
import { primaryMetric } from '../src/report/metric-display.ts';
import { methodsTable } from '../src/report/tables/methods-cost-quality-tables.ts';
import { placementTable } from '../src/report/tables/ablation-tables.ts';
import type { BareTable } from './real-model-tables.ts';

/** Columns of table 11 that a page has room for. */
const METHODS_SHOWN = ['kept', 'difference', 'recomputed', 'evaluated', 'timesRag', 'againstRandom', 'outcome'];

/** Some columns of a table as one block. */
export function pickColumns({ rowHeading, blocks, rows }: BareTable, keys: readonly string[]): BareTable {
  const columns = new Map(blocks.flatMap((block) => block.columns).map((column) => [column.key, column]));
  return { rowHeading, blocks: [{ columns: keys.map((key) => columns.get(key)!) }], rows };
}

/** Table 11 in brief: by default quality, price, and the test against as many random tokens. */
export function methodsInBrief(results: RunResults, shown: readonly string[] = METHODS_SHOWN): BareTable {
  const table = methodsTable(results);
  if (table === undefined) throw new Error(`${results.run.name}: a run that compares methods is needed`);
  return pickColumns(table, shown);
}

/** Columns of table 11 for answers that hardly ever hold the gold: its probability says more. */
const PASSAGES_SHOWN = ['goldLogProb', 'goldDifference', ...METHODS_SHOWN.slice(2)];

/** Table 11 in brief, for long passages. */
export function passagesInBrief(results: RunResults): BareTable {
  return methodsInBrief(results, [primaryMetric(results.run).name, ...PASSAGES_SHOWN]);
}

/** Table 3b in brief: quality, the next token, and what is evaluated. */
export function placementInBrief(results: RunResults): BareTable {
  const keys = [primaryMetric(results.run).name, 'difference', 'klDivergence', 'topOneAgreement', 'evaluated'];
  return pickColumns(placementTable(results), keys);
}
