import type { ArmResults, RunResults } from '../../store/records/results.ts';
import { estimateCell, intervalColumn, itemRows, type Table } from '../../render/table.ts';
import { titleWithProof } from '../proof.ts';
import { primaryMetric, qualityCell } from '../shown-metric.ts';
import { metricColumn } from './arm-table.ts';
import { nextTokenBlock } from './parts-tables.ts';

/** Table 4: recall and fluency by α, which multiplies injected values. */
export function alphaTable(results: RunResults): Table {
  const { run, arms } = results;
  const logProbability = (key: 'goldLogProbability' | 'freeLogProbability', heading: string) =>
    intervalColumn(key, heading, ({ metrics }: ArmResults) => qualityCell(run, estimateCell(metrics[key])));
  return {
    id: 'table-4',
    caption: titleWithProof(
      'Table 4. Recall and fluency by α, which multiplies the values of injected memories',
      results,
    ),
    rowHeading: 'α',
    ...itemRows(arms, ({ arm, traits }) => String(traits.settings.alpha ?? arm), [
      {
        title: 'Quality',
        columns: [primaryMetric(run).column(), metricColumn(run, 'abstention'), metricColumn(run, 'rougeL')],
      },
      {
        title: 'Fluency',
        columns: [
          logProbability('goldLogProbability', 'gold answer (ln p)'),
          logProbability('freeLogProbability', 'own answer (ln p per token)'),
        ],
      },
      nextTokenBlock(run, 'Next token against rag'),
    ]),
    notes: [
      'α = 1 leaves the values unchanged: dki then equals rag bit by bit.',
      'Own answer: ln p of the answer that the arm gave, right or wrong.',
    ],
  };
}
