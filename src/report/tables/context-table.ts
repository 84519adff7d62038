import type { RunResults } from '../../store/records/results.ts';
import { captionOf, estimateCell, qualityCell, meanCell, type Table } from '../../render/table.ts';
import { byCondition, shareLabel, type ArmBlock } from './by-condition.ts';

/** Table 2: a fixed window and a growing number of memories, with a budget of half of the remaining window, and of all of it. */
export function contextTable(results: RunResults): Table {
  const withBudget = (budget: 'half' | 'all'): string[] =>
    results.arms.flatMap(({ arm, traits }) => ((traits.settings.budget ?? 'half') === budget ? arm : []));
  const [half, all] = [withBudget('half'), withBudget('all')];
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
      `Table 2. A window of ${model.contextTokens} tokens and a growing number of memories: ${model.name}`,
      results,
    ),
    rowHeading: 'memories, share of the window',
    ...byCondition(
      results,
      blocks.filter(({ arms }) => arms.length > 0),
      shareLabel,
    ),
    notes: [
      'Retrieval returns every memory; they are kept in rank order until the budget is full, and placed by age.',
      'A budget of all that is left leaves no tokens for history; these questions have none.',
      'Means with 95 % intervals over users; every user is asked under every condition.',
    ],
  };
}
