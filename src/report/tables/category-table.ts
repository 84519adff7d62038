import type { RunResults } from '../../store/records/results.ts';
import { successOf } from '../shown-metric.ts';
import { type Block, captionOf, type Cell, estimateCell, qualityCell, type Table } from '../../render/table.ts';

/** Table 1c: task success by category, and the difference of each arm to the text; undefined where nothing is compared by category. */
export function categoryTable(results: RunResults): Table | undefined {
  const { run, arms } = results;
  const partsOf = (arm: RunResults['arms'][number]) => arm.breakdown.filter(({ field }) => field === 'category');
  const compared = arms.flatMap((arm) => partsOf(arm).flatMap(({ difference }) => difference?.against ?? []));
  const categories = [...new Set(arms.flatMap((arm) => partsOf(arm).map(({ value }) => value)))];
  if (compared.length === 0 || categories.length < 2) return undefined;
  const items = (category: string): number =>
    Math.max(0, ...arms.flatMap((arm) => partsOf(arm).flatMap((part) => (part.value === category ? (part.metrics.taskSuccess?.n ?? 0) : [])))); // prettier-ignore
  return {
    id: 'table-1c',
    caption: captionOf('Table 1c. Task success by category, and the difference to the text', results),
    rowHeading: 'arm',
    blocks: categories.map((category): Block => ({
      title: `${category}, ${items(category)} items`,
      columns: [
        { key: `${category}:success`, heading: category, unit: '%', align: 'right', interval: true },
        {
          key: `${category}:difference`,
          heading: `less ${compared[0]!}`,
          unit: 'points',
          align: 'right',
          interval: true,
        },
      ],
    })),
    rows: arms.map((arm) => ({
      label: arm.arm,
      cells: Object.fromEntries(
        partsOf(arm).flatMap(({ value, metrics, difference }): (readonly [string, Cell])[] => [
          [`${value}:success`, qualityCell(run, estimateCell(metrics.taskSuccess, 100))],
          [
            `${value}:difference`,
            estimateCell(difference && { mean: difference.delta, low: difference.low, high: difference.high }, 100),
          ],
        ]),
      ),
    })),
    notes: [
      `Task success is ${successOf(run).ofTask}; differences are paired by item.`,
      'Means with 95 % intervals over users. No category is tested: many are looked at, and no verdict is given.',
    ],
  };
}
