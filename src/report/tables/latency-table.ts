import type { ArmResults, BreakEven, PhaseMeans, RunResults } from '../../records/results.ts';
import {
  captionOf,
  estimateCell,
  formatNumber,
  meanCell,
  none,
  type Block,
  type Cell,
  type Table,
  textCell,
} from '../table.ts';

const PHASES: readonly (readonly [keyof PhaseMeans, string])[] = [
  ['retrieve', 'retrieve'],
  ['assemble', 'assemble'],
  ['kvLoad', 'load K/V'],
  ['kvCompute', 'build K/V'],
  ['prefill', 'evaluate'],
];

const ms = { align: 'right', unit: 'ms' } as const;

function phaseBlock(title: string, kind: 'Hit' | 'Miss'): Block {
  return {
    title,
    columns: [
      { ...ms, key: `ttft${kind}`, heading: 'first token', interval: true },
      ...PHASES.map(([phase, heading]) => ({ ...ms, key: `${phase}${kind}`, heading })),
    ],
  };
}

const blocks: readonly Block[] = [
  phaseBlock('Cache hits', 'Hit'),
  phaseBlock('Cache misses', 'Miss'),
  {
    title: 'Break-even against rag',
    columns: [
      { align: 'right', key: 'turn', heading: 'at turn' },
      { align: 'right', key: 'interval', heading: '95 % interval' },
      { ...ms, key: 'missMs', heading: 'own miss' },
      { ...ms, key: 'hitMs', heading: 'own hit' },
    ],
  },
];

/** Drawn if an arm did anything ahead. */
const aheadBlock: Block = {
  title: 'Built before the turns, a turn',
  columns: [
    { align: 'right', key: 'aheadTokens', heading: 'tokens' },
    { ...ms, key: 'aheadMs', heading: 'build K/V' },
  ],
};

const orNever = (turn: number | null): string => (turn === null ? 'never' : formatNumber(turn, 0));

function phaseCells(cost: ArmResults['costMiss'], kind: 'Hit' | 'Miss'): Record<string, Cell> {
  if (cost === null) return {};
  return {
    [`ttft${kind}`]: estimateCell(cost.ttftMs),
    ...Object.fromEntries(PHASES.map(([phase]) => [`${phase}${kind}`, meanCell(cost.phasesMs[phase])])),
  };
}

function breakEvenCells(found: BreakEven | undefined): Record<string, Cell> {
  if (found === undefined) return { turn: none };
  return {
    turn: textCell(orNever(found.turn)),
    interval: textCell(`${orNever(found.low)} to ${orNever(found.high)}`),
    missMs: meanCell(found.missMs),
    hitMs: meanCell(found.hitMs),
  };
}

/** Table 5: cache hits against misses, the phases of the time to the first token, and the break-even. */
export function latencyTable(results: RunResults): Table {
  const ahead = results.arms.filter((arm) => arm.ahead !== undefined).map(({ arm }) => arm);
  return {
    id: 'table-5',
    caption: captionOf('Table 5. Time to the first token, and break-even', results),
    rowHeading: 'arm',
    blocks: ahead.length === 0 ? blocks : [...blocks, aheadBlock],
    rows: results.arms.map((arm) => ({
      label: arm.arm,
      cells: {
        ...phaseCells(arm.costHit, 'Hit'),
        ...phaseCells(arm.costMiss, 'Miss'),
        ...(arm.ahead === undefined
          ? {}
          : { aheadTokens: meanCell(arm.ahead.tokens), aheadMs: meanCell(arm.ahead.ms) }),
        ...breakEvenCells(results.breakEven.find((one) => one.arm === arm.arm)),
      },
    })),
    notes: [
      'Hits and misses are those of dki, the same turns for every arm.',
      'Break-even: the first turn with one set of memories after which an arm has taken no longer than rag in total, if its',
      'first turn is a miss and later ones are hits; it may be never.',
      ...(ahead.length === 0
        ? []
        : [
            `K/V that ${ahead.join(', ')} built when memories were added is in the last columns and in no other number.`,
          ]),
    ],
  };
}
