import type { ArmResults, RunResults } from '../../store/records/results.ts';
import { metricNamed, type ShownMetric } from '../shown-metric.ts';
import { type Block, type Cell, countCell, estimateCell, none } from '../../render/table.ts';

const right = { align: 'right' } as const;

function metric(run: RunResults['run'], name: string): ShownMetric {
  return metricNamed(run, name)!;
}

/** Columns on the nearness of an arm to the text: the gold's probability, the same answers, and flips both ways. */
export function fidelityBlock(run: RunResults['run']): Block {
  const gold = metric(run, 'goldLogProb');
  return {
    title: 'Against the text of rag',
    columns: [
      { ...gold.column(), unit: `${gold.unit} a token` },
      { ...right, key: 'goldDifference', heading: 'less that of rag', unit: gold.unit, interval: true },
      metric(run, 'goldKl').column(),
      { ...right, key: 'sameAnswer', heading: 'same answer', unit: '%', interval: true },
      { ...right, key: 'lost', heading: 'right → wrong' },
      { ...right, key: 'won', heading: 'wrong → right' },
    ],
  };
}

/** The cells of `fidelityBlock`. */
export function fidelityCells({ run, comparisons }: RunResults, arm: ArmResults): Record<string, Cell> {
  const [gold, kl] = [metric(run, 'goldLogProb'), metric(run, 'goldKl')];
  const compared = comparisons.find((one) => one.metric === gold.name && one.a === arm.arm);
  const { fidelity } = arm;
  return {
    [gold.name]: gold.cell(arm.metrics),
    goldDifference:
      compared === undefined ? none : gold.difference({ mean: compared.delta, low: compared.low, high: compared.high }),
    [kl.name]: kl.cell(arm.metrics),
    sameAnswer: estimateCell(fidelity?.sameAnswer, 100),
    lost: fidelity === undefined ? none : countCell(fidelity.lost),
    won: fidelity === undefined ? none : countCell(fidelity.won),
  };
}
