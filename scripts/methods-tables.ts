import type { RunResults } from '../src/records/results.ts';
import { methodsTable } from '../src/report/tables/methods-table.ts';
import type { BareTable } from './real-model-tables.ts';

/** Columns of table 11 that a page has room for. */
const SHOWN = ['kept', 'difference', 'recomputed', 'evaluated', 'timesRag', 'againstRandom', 'outcome'];

/** Table 11 in brief: quality, price, and the test against as many random tokens. @throws Error for a run of another suite */
export function methodsInBrief(results: RunResults): BareTable {
  const table = methodsTable(results);
  if (table === undefined) throw new Error(`${results.run.name}: a run of suite methods is needed`);
  const columns = table.blocks.flatMap((block) => block.columns);
  const heading = (key: string): string | undefined => (key === 'againstRandom' ? 'to random tokens' : undefined);
  return {
    rowHeading: 'arm',
    blocks: [
      {
        columns: SHOWN.map((key) => {
          const column = columns.find((one) => one.key === key)!;
          return { ...column, heading: heading(key) ?? column.heading };
        }),
      },
    ],
    rows: table.rows,
  };
}
