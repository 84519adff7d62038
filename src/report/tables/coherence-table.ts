import type { RunResults } from '../../eval/results.ts';
import { captionOf, estimateCell, qualityCell, meanCell, type Table } from '../table.ts';
import { byCondition } from './by-condition.ts';

/** Table 6: recall by depth of the conversation. */
export function coherenceTable(results: RunResults): Table {
  const arms = results.arms.map(({ arm }) => arm);
  return {
    id: 'table-6',
    caption: captionOf('Table 6. Recall by depth of the conversation', results),
    rowHeading: 'turn',
    ...byCondition(
      results,
      [
        {
          title: 'Exact match',
          unit: '%',
          interval: true,
          arms,
          cell: ({ metrics }) => qualityCell(results.run, estimateCell(metrics.exactMatch, 100)),
        },
        { title: 'Evaluated tokens', arms, cell: ({ tokens }) => meanCell(tokens.evaluated) },
      ],
      String,
    ),
    notes: [
      'One conversation a user; what stands before a question is what the arm itself answered.',
      'Every third turn tells something that is asked two turns later and that no memory holds.',
    ],
  };
}
