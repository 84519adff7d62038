import type { ArmResults, RunResults } from '../../store/records/results.ts';
import { successOf } from '../shown-metric.ts';
import { type Block, captionOf, estimateCell, qualityCell, type Table } from '../../render/table.ts';

const dimensions = [
  { field: 'userKind', title: 'By kind of user', leastValues: 1 },
  { field: 'category', title: 'By category', leastValues: 1 },
  { field: 'phrasing', title: 'By phrasing of the question', leastValues: 1 },
  { field: 'language', title: 'By language', leastValues: 2 },
] as const;

/** The values of a field, in the order of the arms. */
function valuesOf(arms: readonly ArmResults[], field: string): string[] {
  return [
    ...new Set(arms.flatMap((arm) => arm.breakdown.filter((part) => part.field === field).map((part) => part.value))),
  ];
}

/** Table 1 broken down: task success by kind of user, category, phrasing, and language if there are several. */
export function tableBreakdown(results: RunResults): Table {
  return brokenDown(results, dimensions);
}

/** Task success on the phrasings that the shipped model was trained on, and on held-out ones. */
export function phrasingTable(results: RunResults): Table {
  return brokenDown(
    results,
    dimensions.filter(({ field }) => field === 'phrasing'),
  );
}

function brokenDown(results: RunResults, shown: readonly (typeof dimensions)[number][]): Table {
  const { run, arms } = results;
  const fields = shown
    .map((dimension) => ({ ...dimension, values: valuesOf(arms, dimension.field) }))
    .filter(({ values, leastValues }) => values.length >= leastValues);
  const blocks = fields.map(({ field, title, values }): Block => ({
    title,
    columns: values.map((value) => ({
      key: `${field}:${value}`,
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
    blocks,
    rows: arms.map((arm) => ({
      label: arm.arm,
      cells: Object.fromEntries(
        arm.breakdown.map(({ field, value, metrics }) => [
          `${field}:${value}`,
          qualityCell(run, estimateCell(metrics.taskSuccess, 100)),
        ]),
      ),
    })),
    notes: [`Means with 95 % intervals over users. Task success is ${successOf(run).ofTask}.`],
  };
}
