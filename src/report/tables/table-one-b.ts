import type { FunnelStage, RunResults, WrongClass } from '../../store/records/results.ts';
import { captionOf, type Cell, countCell, none, qualityCell, type Table } from '../../render/table.ts';

const wrongClasses: readonly { readonly key: WrongClass; readonly heading: string }[] = [
  { key: 'wrong-abstention', heading: 'abstained' },
  { key: 'stale', heading: 'stale' },
  { key: 'confused', heading: 'confused' },
  { key: 'near-copy', heading: 'near copy' },
  { key: 'fabricated', heading: 'fabricated' },
  { key: 'off-topic', heading: 'off topic' },
];

const stages: readonly { readonly key: FunnelStage; readonly heading: string }[] = [
  { key: 'stored', heading: 'stored' },
  { key: 'retrieved', heading: 'retrieved' },
  { key: 'kept', heading: 'kept' },
  { key: 'sequence', heading: 'in sequence' },
  { key: 'answered', heading: 'answered' },
];

function cellOf(count: number | null | undefined): Cell {
  return count === null || count === undefined ? none : countCell(count);
}

/** Table 1b: wrong answers by class, and the evidence funnel. */
export function tableOneB(results: RunResults): Table {
  const { run, arms } = results;
  return {
    id: 'table-1b',
    caption: captionOf('Table 1b. Wrong answers by class, and the evidence funnel', results),
    rowHeading: 'arm',
    blocks: [
      { title: 'Wrong answers', columns: wrongClasses.map((column) => ({ ...column, align: 'right' })) },
      {
        title: 'Evidence funnel of answerable items',
        columns: stages.map((column) => ({ ...column, align: 'right' })),
      },
    ],
    rows: arms.map((arm) => ({
      label: arm.arm,
      cells: {
        ...Object.fromEntries(wrongClasses.map(({ key }) => [key, qualityCell(run, cellOf(arm.wrong?.[key]))])),
        ...Object.fromEntries(stages.map(({ key }) => [key, cellOf(arm.funnel[key])])),
        answered: qualityCell(run, cellOf(arm.funnel.answered)),
      },
    })),
    notes: [
      'A wrong answer falls into the first class that fits: abstained wrongly; stale, a superseded value; confused, ' +
        'the value of another memory that was shown; near copy; fabricated, a value that was not shown; off topic.',
      'An item leaves the funnel at the first stage that failed.',
      ...(run.dataset.withoutEvidence === undefined
        ? []
        : [`${run.dataset.withoutEvidence} items whose evidence is unknown are not in the funnel.`]),
    ],
  };
}
