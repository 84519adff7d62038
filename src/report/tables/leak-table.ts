import type { LeakMatrix, RunResults } from '../../store/records/results.ts';
import { captionOf, countCell, meanCell, type Block, type Table } from '../../render/table.ts';

const blocks: readonly Block[] = [
  {
    columns: [
      { align: 'right', key: 'owners', heading: 'own secret heard' },
      { align: 'right', key: 'pairs', heading: 'pairs of others' },
      { align: 'right', key: 'answers', heading: 'answers' },
      { align: 'right', key: 'leaks', heading: 'leaks' },
      { align: 'right', key: 'bound', heading: 'upper bound', unit: '%' },
    ],
  },
];

/** Table 9: leaks between users by arm; the matrix itself is a figure. */
export function leakTable(results: RunResults, leaks: readonly LeakMatrix[]): Table {
  return {
    id: 'table-9',
    caption: captionOf('Table 9. Secrets of one user in the answers of another', results),
    rowHeading: 'arm',
    blocks,
    rows: leaks.map(({ arm, users, answers, said, upperBound }) => {
      const owners = said.filter((row, asker) => row[asker]! > 0).length;
      const foreign = said.flatMap((row, asker) => row.filter((_count, owner) => owner !== asker));
      return {
        label: arm,
        cells: {
          owners: countCell(owners),
          pairs: countCell(users.length * (users.length - 1)),
          answers: countCell(users.length * answers),
          leaks: countCell(foreign.reduce((sum, count) => sum + count, 0)),
          bound: meanCell(upperBound * 100),
        },
      };
    }),
    notes: [
      'Every user has a secret and is asked for it; then a stranger without one is asked the same. Upper bound: 95 %, by',
      'Clopper and Pearson, over the answers of one arm.',
    ],
  };
}
