import type { ConditionResults, RunResults } from '../../store/records/results.ts';
import { primaryMetric } from '../shown-metric.ts';
import { captionOf, type Cell, estimateCell, meanCell, none, qualityCell, type Table } from '../../render/table.ts';
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
  const primary = primaryMetric(run);
  const match = (found: ConditionResults | undefined): Cell =>
    found === undefined ? qualityCell(run, none) : primary.cell(found.metrics);
  const blocks: ArmBlock[] = [
    { title: primary.title, unit: primary.unit, interval: true, arms, cell: match },
    ...PLACES.map((place): ArmBlock => ({
      title: `${primary.title}, evidence ${place === 'middle' ? 'in the middle' : place}`,
      unit: primary.unit,
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
