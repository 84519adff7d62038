import type { ArmResults, RunResults } from '../../eval/results.ts';
import { type Block, captionOf, estimateCell, qualityCell, type Table } from '../table.ts';

const dimensions = [
  { by: 'userKind', title: 'By kind of user' },
  { by: 'category', title: 'By category' },
  { by: 'phrasing', title: 'By phrasing of the question' },
  { by: 'language', title: 'By language' },
] as const;

/** The values of a dimension in the order in which the arms give them. */
function valuesOf(arms: readonly ArmResults[], by: string): string[] {
  return [...new Set(arms.flatMap((arm) => arm.breakdown.filter((part) => part.by === by).map((part) => part.value)))];
}

/** Task success by kind of user, category, known or held-out phrasing, and language where there are several. */
export function tableBreakdown(results: RunResults): Table {
  return brokenDown(results, dimensions);
}

/** Task success on phrasings that the shipped model was trained on, and on those that it never saw. */
export function phrasingTable(results: RunResults): Table {
  return brokenDown(
    results,
    dimensions.filter(({ by }) => by === 'phrasing'),
  );
}

function brokenDown(results: RunResults, shown: readonly (typeof dimensions)[number][]): Table {
  const { run, arms } = results;
  const blocks = shown.map(({ by, title }): Block => ({
    title,
    columns: valuesOf(arms, by).map((value) => ({
      key: `${by}:${value}`,
      heading: value,
      unit: '%',
      align: 'right',
      interval: true,
    })),
  }));
  return {
    id: 'table-1-breakdown',
    caption: captionOf('Table 1, broken down. Task success', results),
    rowHeading: 'arm',
    blocks: blocks.filter(({ columns }) => columns.length > 0),
    rows: arms.map((arm) => ({
      label: arm.arm,
      cells: Object.fromEntries(
        arm.breakdown.map(({ by, value, taskSuccess }) => [
          `${by}:${value}`,
          qualityCell(run, estimateCell(taskSuccess, 100)),
        ]),
      ),
    })),
    notes: [
      'Means with 95 % intervals over users. Where a category is answerable, task success is exact match; where it is absent, abstention.',
    ],
  };
}
