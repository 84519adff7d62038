import type { RunResults, ServedLoad, ServingMeasurement } from '../../store/records/results.ts';
import {
  type Block,
  captionOf,
  type Cell,
  countCell,
  formatNumber,
  meanCell,
  none,
  type Table,
  textCell,
} from '../../render/table.ts';

const right = { align: 'right' } as const;

const blocks: readonly Block[] = [
  {
    title: 'Time to first token, from the planned arrival',
    columns: [
      { ...right, key: 'offered', heading: 'arrive', unit: '1/s' },
      { ...right, key: 'p50', heading: 'p50', unit: 'ms' },
      { ...right, key: 'p95', heading: 'p95', unit: 'ms' },
      { ...right, key: 'answered', heading: 'answered', unit: '1/s' },
    ],
  },
  {
    title: 'A turn',
    columns: [
      { ...right, key: 'evaluated', heading: 'tokens evaluated' },
      { ...right, key: 'reused', heading: 'reused' },
      { ...right, key: 'moved', heading: 'K/V moved', unit: 'kB' },
      { ...right, key: 'hits', heading: 'hits', unit: '%' },
      { ...right, key: 'same', heading: "rag's answer", unit: '%' },
      { ...right, key: 'errors', heading: 'errors' },
    ],
  },
];

const numberCell = (value: number | null | undefined, digits: number): Cell =>
  value === null || value === undefined ? none : { kind: 'number', value, digits };

const shareOf = (count: number | null, turns: number): Cell =>
  meanCell(count === null ? undefined : (100 * count) / turns);

function cellsOf(load: ServedLoad): Record<string, Cell> {
  const { offered, ttftMs, saturated, answered, turns } = load;
  return {
    offered: numberCell(offered, 2),
    p50: numberCell(ttftMs?.p50, 0),
    p95: saturated ? textCell('saturated') : numberCell(ttftMs?.p95, 0),
    answered: numberCell(answered, 2),
    evaluated: numberCell(load.evaluatedTokens, 1),
    reused: numberCell(load.reusedTokens, 1),
    moved: numberCell(load.movedBytes / 1000, 0),
    hits: shareOf(load.hits, turns),
    same: shareOf(load.sameAsText, turns),
    errors: countCell(load.errors),
  };
}

/** Table 12: arms under load, one row an arm and a rate. */
export function servingTable(results: RunResults, serving: ServingMeasurement): Table {
  const { sessions, conversations, recurrence, capacity, loads } = serving;
  const turns = loads[0]?.turns ?? 0;
  const capacities = Object.entries(capacity).map(([arm, rate]) => `${arm} ${formatNumber(rate, 2)}`);
  return {
    id: 'table-12',
    caption: captionOf(`Table 12. Arms under load: ${results.run.model.name}`, results),
    rowHeading: 'arm',
    blocks,
    rows: loads.map((load) => ({ label: load.arm, cells: cellsOf(load) })),
    notes: [
      `${conversations} conversations, ${turns} turns at each rate, ${sessions} answered at once; of the later turns of a conversation,`,
      `${formatNumber(100 * recurrence, 0)} % were planned to ask again (--recurrence). Each load begins with empty stores.`,
      'Saturated: the queue still grew at the end. p95 from 100 turns on.',
      `Capacity, turns a second when the next is always there: ${capacities.join(', ')}.`,
    ],
  };
}
