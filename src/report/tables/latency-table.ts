import type { ArmResults, BreakEven, RunResults } from '../../store/records/results.ts';
import { formatNumber, type ItemBlock, numberColumn, type Table, textCell } from '../../render/table.ts';
import { armTable, timeColumn } from './arm-table.ts';

const phases = {
  retrieve: 'retrieve',
  assemble: 'assemble',
  kvLoad: 'load KV',
  kvCompute: 'build KV',
  prefill: 'evaluate',
};

function phaseBlock(title: string, kind: 'Hit' | 'Miss'): ItemBlock<ArmResults> {
  const cost = (arm: ArmResults) => arm[`cost${kind}`];
  return {
    title,
    columns: [
      timeColumn(`ttft${kind}`, 'TTFT', (arm) => cost(arm)?.ttftMs),
      ...Object.entries(phases).map(([phase, heading]) =>
        numberColumn<ArmResults>(
          `${phase}${kind}`,
          `${heading} (ms)`,
          (arm) => cost(arm)?.phasesMs[phase as keyof typeof phases],
        ),
      ),
    ],
  };
}

/** @param against the text arm */
function breakEvenBlock(against: string, breakEven: readonly BreakEven[]): ItemBlock<ArmResults> {
  const find = ({ arm }: ArmResults) => breakEven.find((one) => one.arm === arm && one.against === against);
  const turn = (value: number | null) => (value === null ? 'never' : formatNumber(value, 0));
  const mean = (key: 'missMs' | 'hitMs' | 'textMissMs' | 'textHitMs', heading: string) =>
    numberColumn<ArmResults>(`${key}:${against}`, `${heading} (ms)`, (arm) => find(arm)?.[key]);
  const text = (key: string, heading: string, words: (found: BreakEven) => string) =>
    numberColumn<ArmResults>(`${key}:${against}`, heading, (arm) => {
      const found = find(arm);
      return textCell(found && words(found));
    });
  return {
    title: `Break-even against ${against}`,
    columns: [
      text('turn', 'at turn', (found) => turn(found.turn)),
      text('interval', '95 % interval', ({ low, high }) => `${turn(low)} to ${turn(high)}`),
      mean('missMs', 'own miss'),
      mean('hitMs', 'own hit'),
      mean('textMissMs', `${against}, same misses`),
      mean('textHitMs', `${against}, same hits`),
    ],
  };
}

/** Table 5: cache hits against misses, the phases of the time to first token, and the break-even. */
export function latencyTable(results: RunResults): Table {
  const ahead = results.arms.filter((arm) => arm.ahead !== undefined).map(({ arm }) => arm);
  const opponents = [...new Set(results.breakEven.map(({ against }) => against))];
  const aheadBlock: ItemBlock<ArmResults> = {
    title: 'Built before the turns, per turn',
    columns: [
      numberColumn('aheadTokens', 'tokens', (arm) => arm.ahead?.tokens),
      numberColumn('aheadMs', 'build KV (ms)', (arm) => arm.ahead?.ms),
    ],
  };
  return armTable(results, {
    id: 'table-5',
    title: 'Table 5. Time to first token (TTFT), and break-even',
    blocks: [
      phaseBlock('Cache hits', 'Hit'),
      phaseBlock('Cache misses', 'Miss'),
      ...opponents.map((against) => breakEvenBlock(against, results.breakEven)),
      ...(ahead.length === 0 ? [] : [aheadBlock]),
    ],
    notes: [
      'Hits and misses are those of dki, the same turns for every arm.',
      'Break-even: the first turn with one set of memories after which an arm has taken no longer in total than the text, each at',
      'its mean over the same turns: one miss, then hits; it may never come.',
      ...(ahead.length === 0
        ? []
        : [
            `KV that ${ahead.join(', ')} built when memories were added is in the last columns and in no other number.`,
          ]),
    ],
  });
}
