import type { ConditionResults, RunResults } from '../../records/results.ts';
import { captionOf, type Cell, estimateCell, meanCell, qualityCell, type Table } from '../table.ts';
import { byCondition, under, type ArmBlock } from './by-condition.ts';

const PLACES = ['early', 'middle', 'late'] as const;

/** The data of figure F2: time to the first token by number of memories. */
export function latencyScalingTable(results: RunResults): Table {
  const arms = results.arms.map(({ arm }) => arm);
  const blocks: ArmBlock[] = [
    {
      title: 'Time to first token',
      unit: 'ms',
      interval: true,
      arms,
      cell: ({ metrics }) => estimateCell(metrics.ttftMs),
    },
    { title: 'Memory tokens', arms, cell: ({ memories }) => meanCell(memories.tokens) },
    { title: 'Evaluated tokens', arms, cell: ({ tokens }) => meanCell(tokens.evaluated) },
  ];
  return {
    id: 'table-f2',
    caption: captionOf('Figure F2, data. Time to the first token by number of memories', results),
    rowHeading: 'memories',
    ...byCondition(results, blocks, String),
    notes: ['Retrieval returns every memory. Means over all turns, cache hits and misses.'],
  };
}

/** The data of figure F3: recall by number of memories and place of the evidence. */
export function recallScalingTable(results: RunResults): Table {
  const { run } = results;
  const arms = results.arms.map(({ arm }) => arm);
  const match = (found: ConditionResults | undefined): Cell =>
    qualityCell(run, estimateCell(found?.metrics.exactMatch, 100));
  const blocks: ArmBlock[] = [
    { title: 'Exact match', unit: '%', interval: true, arms, cell: match },
    ...PLACES.map((place): ArmBlock => ({
      title: `Exact match, evidence ${place === 'middle' ? 'in the middle' : place}`,
      unit: '%',
      interval: true,
      arms,
      cell: ({ arm, condition }) => match(under(results, arm, condition, place)),
    })),
  ];
  return {
    id: 'table-f3',
    caption: captionOf('Figure F3, data. Recall by number of memories and place of the evidence', results),
    rowHeading: 'memories',
    ...byCondition(results, blocks, String),
    notes: ['Early, middle, late: the third of the memories, by age, that holds the evidence.'],
  };
}
