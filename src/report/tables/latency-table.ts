import type { ArmResults, BreakEven, PhaseMeans, RunResults } from '../../eval/results.ts';
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
  ['retrieve', 'recall'],
  ['assemble', 'assemble'],
  ['kvLoad', 'load K/V'],
  ['kvCompute', 'build K/V'],
  ['prefill', 'evaluate'],
];

const ms = { align: 'right', unit: 'ms' } as const;

function phaseBlock(title: string, kind: 'Seen' | 'New'): Block {
  return {
    title,
    columns: [
      { ...ms, key: `ttft${kind}`, heading: 'first token', interval: true },
      ...PHASES.map(([phase, heading]) => ({ ...ms, key: `${phase}${kind}`, heading })),
    ],
  };
}

const blocks: readonly Block[] = [
  phaseBlock('Turns whose set of memories was seen', 'Seen'),
  phaseBlock('Turns whose set of memories was new', 'New'),
  {
    title: 'Break-even against rag',
    columns: [
      { align: 'right', key: 'turn', heading: 'at turn' },
      { align: 'right', key: 'interval', heading: '95 % interval' },
      { ...ms, key: 'newMs', heading: 'own new' },
      { ...ms, key: 'seenMs', heading: 'own seen' },
    ],
  },
];

/** Drawn where an arm did anything ahead. */
const aheadBlock: Block = {
  title: 'Built before the turns, a turn',
  columns: [
    { align: 'right', key: 'aheadTokens', heading: 'tokens' },
    { ...ms, key: 'aheadMs', heading: 'build K/V' },
  ],
};

const orNever = (turn: number | null): string => (turn === null ? 'never' : formatNumber(turn, 0));

function phaseCells(cost: ArmResults['costNew'], kind: 'Seen' | 'New'): Record<string, Cell> {
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
    newMs: meanCell(found.newMs),
    seenMs: meanCell(found.seenMs),
  };
}

/** Table 5: new against seen turns, where the time goes, and from which turn on K/V pays. */
export function latencyTable(results: RunResults): Table {
  const ahead = results.arms.filter((arm) => arm.ahead !== undefined).map(({ arm }) => arm);
  return {
    id: 'table-5',
    caption: captionOf('Table 5. Time to the first token, and from which turn on K/V pays', results),
    rowHeading: 'arm',
    blocks: ahead.length === 0 ? blocks : [...blocks, aheadBlock],
    rows: results.arms.map((arm) => ({
      label: arm.arm,
      cells: {
        ...phaseCells(arm.costSeen, 'Seen'),
        ...phaseCells(arm.costNew, 'New'),
        ...(arm.ahead === undefined
          ? {}
          : { aheadTokens: meanCell(arm.ahead.tokens), aheadMs: meanCell(arm.ahead.ms) }),
        ...breakEvenCells(results.breakEven.find((one) => one.arm === arm.arm)),
      },
    })),
    notes: [
      'Seen and new by the K/V set of dki, the same turns for every arm.',
      'Break-even is the first turn with one set of memories after which an arm has taken no longer than rag in all, by its own',
      'new and seen turns: building costs once. "Never" is an answer.',
      ...(ahead.length === 0
        ? []
        : [
            `What ${ahead.join(', ')} built when memories were added stands in its last columns and in no other number.`,
          ]),
    ],
  };
}
