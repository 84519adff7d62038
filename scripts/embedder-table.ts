import type { RunResults } from '../src/store/records/results.ts';
import { estimateCell, type Table, textCell } from '../src/render/table.ts';

/** Recall@5 of the run's embedder and of the one that ships, by category of a data set's questions, with paired differences. */
export function embedderTable({ run, measured }: RunResults): Omit<Table, 'id' | 'caption' | 'notes'> {
  const rows = measured!.retrieval!.rows.filter(({ dataset }) => dataset === run.dataset.name);
  const own = rows.filter(({ strategy }) => strategy === 'router');
  const shipped = rows.filter(({ strategy }) => strategy === 'router, embed-en-zh');
  return {
    rowHeading: 'category',
    blocks: [
      {
        columns: [
          { key: 'questions', heading: 'questions', kind: 'number' },
          { key: 'own', heading: `${run.embedder.name} (%)`, kind: 'interval' },
          { key: 'shipped', heading: 'embed-en-zh (%)', kind: 'interval' },
          { key: 'difference', heading: 'Δ (pp)', kind: 'interval' },
        ],
      },
    ],
    rows: own.map(({ kind, n, metrics }) => {
      const other = shipped.find((row) => row.kind === kind)!;
      return {
        label: kind,
        cells: {
          questions: textCell(String(n)),
          own: estimateCell(metrics.recallAt5, 100),
          shipped: estimateCell(other.metrics.recallAt5, 100),
          difference: estimateCell(other.againstRouter, 100),
        },
      };
    }),
  };
}
