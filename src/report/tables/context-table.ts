import type { RunResults } from '../../eval/results.ts';
import { captionOf, estimateCell, qualityCell, meanCell, type Table } from '../table.ts';
import { byCondition, shareLabel, type ArmBlock } from './by-condition.ts';

const ALL = '@budget=all';

/** Table 2: a fixed window and ever more memories, with half of what is left for them, and with all of it. */
export function contextTable(results: RunResults): Table {
  const names = results.arms.map(({ arm }) => arm);
  const half = names.filter((arm) => !arm.endsWith(ALL));
  const all = names.filter((arm) => arm.endsWith(ALL));
  const success = { unit: '%', interval: true } as const;
  const blocks: ArmBlock[] = [
    {
      ...success,
      title: 'Task success, same budget: half of what is left',
      arms: half,
      cell: ({ metrics }) => qualityCell(results.run, estimateCell(metrics.taskSuccess, 100)),
    },
    {
      ...success,
      title: 'Task success, K/V budget: all that is left',
      arms: all,
      cell: ({ metrics }) => qualityCell(results.run, estimateCell(metrics.taskSuccess, 100)),
    },
    { title: 'Memories kept, half', arms: half, cell: ({ memories }) => meanCell(memories.kept) },
    { title: 'Memories kept, all', arms: all, cell: ({ memories }) => meanCell(memories.kept) },
    { title: 'Memories dropped, half', arms: half, cell: ({ memories }) => meanCell(memories.dropped) },
    { title: 'Memories dropped, all', arms: all, cell: ({ memories }) => meanCell(memories.dropped) },
  ];
  const { model } = results.run;
  return {
    id: 'table-2',
    caption: captionOf(
      `Table 2. A window of ${model.contextTokens} tokens and ever more memories: ${model.name}`,
      results,
    ),
    rowHeading: 'memories, share of the window',
    ...byCondition(
      results,
      blocks.filter(({ arms }) => arms.length > 0),
      shareLabel,
    ),
    notes: [
      'Recall returns every memory; they are kept in rank order until the budget is full, and placed by age.',
      'With all that is left as budget no history would fit; these questions have none.',
      'Means with 95 % intervals over users; every user is asked under every condition.',
    ],
  };
}
