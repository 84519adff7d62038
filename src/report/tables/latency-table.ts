import type { ArmResults, BreakEven, RunResults } from '../../store/records/run-results.ts';
import {
  intervalColumn,
  type ItemBlock,
  numberColumn,
  partColumns,
  type Table,
  textCell,
  titled,
} from '../../render/table.ts';
import { formatNumber } from '../../render/format-number.ts';
import { primaryArm } from '../find-arms-and-comparisons.ts';
import { armTable } from './table-parts.ts';

const phases = [
  ['retrieve', 'retrieve'],
  ['assemble', 'assemble'],
  ['kvLoad', 'load KV'],
  ['kvCompute', 'build KV'],
  ['prefill', 'evaluate'],
] as const;

function phaseBlock(title: string, kind: 'Hit' | 'Miss'): ItemBlock<ArmResults> {
  return titled(title, [
    intervalColumn(`ttft${kind}`, 'TTFT (ms)', (arm) => arm[`cost${kind}`]?.ttftMs),
    ...phases.map(([phase, heading]) =>
      numberColumn<ArmResults>(`${phase}${kind}`, `${heading} (ms)`, (arm) => arm[`cost${kind}`]?.phasesMs[phase]),
    ),
  ]);
}

/** @param against the text arm */
function breakEvenBlock(against: string, breakEven: readonly BreakEven[]): ItemBlock<ArmResults> {
  const turn = (value: number | null) => (value === null ? 'never' : formatNumber(value, 0));
  const ofArm = ({ arm }: ArmResults) => breakEven.find((one) => one.arm === arm && one.against === against);
  const columns = partColumns(ofArm, [
    numberColumn(`turn:${against}`, 'at turn', (one) => textCell(turn(one.turn))),
    numberColumn(`interval:${against}`, '95 % interval', ({ low, high }) => textCell(`${turn(low)} to ${turn(high)}`)),
    numberColumn(`missMs:${against}`, 'own miss (ms)', ({ missMs }) => missMs),
    numberColumn(`hitMs:${against}`, 'own hit (ms)', ({ hitMs }) => hitMs),
    numberColumn(`textMissMs:${against}`, `${against}, same misses (ms)`, ({ textMissMs }) => textMissMs),
    numberColumn(`textHitMs:${against}`, `${against}, same hits (ms)`, ({ textHitMs }) => textHitMs),
  ]);
  return titled(`Break-even against ${against}`, columns);
}

export function latencyTable(results: RunResults): Table {
  const armsAhead = results.arms.flatMap((one) => (one.ahead === undefined ? [] : one.arm));
  // Only a primary arm defines cache hits and misses.
  const hasHits = primaryArm(results.arms) !== undefined;
  const opponents = [...new Set(results.breakEven.map(({ against }) => against))];
  return armTable(results, {
    id: 'table-5',
    title: 'Table 5. Time to first token (TTFT), and break-even',
    blocks: [
      ...(hasHits
        ? [phaseBlock('Cache hits', 'Hit'), phaseBlock('Cache misses', 'Miss')]
        : [phaseBlock('All turns', 'Hit')]),
      ...opponents.map((against) => breakEvenBlock(against, results.breakEven)),
      armsAhead.length > 0 &&
        titled('Built before the turns, per turn', [
          numberColumn('aheadTokens', 'tokens', (arm) => arm.ahead?.tokens),
          numberColumn('aheadMs', 'build KV (ms)', (arm) => arm.ahead?.ms),
        ]),
    ],
    notes: [
      hasHits
        ? 'Hits and misses are those of dki, the same turns for every arm.'
        : 'Times are over all turns: without dki in the run there are no cache hits or misses.',
      'Break-even: the first turn, with unchanged memories, after which an arm has taken no more time in total than text. It is',
      'computed from means over the same turns: one miss, then hits. It may never come.',
      armsAhead.length > 0 &&
        `KV that ${armsAhead.join(', ')} built when memories were added counts only in the last columns.`,
    ],
  });
}
