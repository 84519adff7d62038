import type { ArmResults, BreakEven, PhaseMeans, RunResults } from '../../store/records/results.ts';
import {
  captionOf,
  estimateCell,
  formatNumber,
  meanCell,
  type Block,
  type Cell,
  type Table,
  textCell,
} from '../../render/table.ts';

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

const blocks: readonly Block[] = [phaseBlock('Cache hits', 'Hit'), phaseBlock('Cache misses', 'Miss')];

/** @param against the arm of text */
function breakEvenBlock(against: string): Block {
  return {
    title: `Break-even against ${against}`,
    columns: [
      { align: 'right', key: `turn:${against}`, heading: 'at turn' },
      { align: 'right', key: `interval:${against}`, heading: '95 % interval' },
      { ...ms, key: `missMs:${against}`, heading: 'own miss' },
      { ...ms, key: `hitMs:${against}`, heading: 'own hit' },
      { ...ms, key: `textMissMs:${against}`, heading: `${against}, same misses` },
      { ...ms, key: `textHitMs:${against}`, heading: `${against}, same hits` },
    ],
  };
}

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

function breakEvenCells({ against, turn, low, high, ...means }: BreakEven): (readonly [string, Cell])[] {
  return [
    [`turn:${against}`, textCell(orNever(turn))],
    [`interval:${against}`, textCell(`${orNever(low)} to ${orNever(high)}`)],
    ...(['missMs', 'hitMs', 'textMissMs', 'textHitMs'] as const).map(
      (key) => [`${key}:${against}`, meanCell(means[key])] as const,
    ),
  ];
}

/** Table 5: cache hits against misses, the phases of the time to the first token, and the break-even. */
export function latencyTable(results: RunResults): Table {
  const ahead = results.arms.filter((arm) => arm.ahead !== undefined).map(({ arm }) => arm);
  const opponents = [...new Set(results.breakEven.map(({ against }) => against))];
  return {
    id: 'table-5',
    caption: captionOf('Table 5. Time to the first token, and break-even', results),
    rowHeading: 'arm',
    blocks: [...blocks, ...opponents.map(breakEvenBlock), ...(ahead.length === 0 ? [] : [aheadBlock])],
    rows: results.arms.map((arm) => ({
      label: arm.arm,
      cells: {
        ...phaseCells(arm.costHit, 'Hit'),
        ...phaseCells(arm.costMiss, 'Miss'),
        ...(arm.ahead === undefined
          ? {}
          : { aheadTokens: meanCell(arm.ahead.tokens), aheadMs: meanCell(arm.ahead.ms) }),
        ...Object.fromEntries(
          results.breakEven.filter((one) => one.arm === arm.arm).flatMap((one) => breakEvenCells(one)),
        ),
      },
    })),
    notes: [
      'Hits and misses are those of dki, the same turns for every arm.',
      'Break-even: the first turn with one set of memories after which an arm has taken no longer in total than the text, each at',
      'its mean over the same turns: first one of the misses, then hits; it may be never.',
      ...(ahead.length === 0
        ? []
        : [
            `K/V that ${ahead.join(', ')} built when memories were added is in the last columns and in no other number.`,
          ]),
    ],
  };
}
