import { type Figure, PANEL_WIDTH } from '../../render/figure.ts';
import { formatNumber } from '../../render/format-number.ts';
import type { TrafficEstimate } from '../tables/estimate-table.ts';
import { type ArmsWithTraits, asLines, curveEncoding } from './arm-encoding.ts';
import { fieldQuantity, layer } from './figure-parts.ts';

/** The times to the first token of all turns, sorted, a curve for each arm. */
export function estimateFigure({ trace, model, arms }: TrafficEstimate, traits: ArmsWithTraits): Figure {
  const { color, shape, strokeDash } = curveEncoding(
    traits,
    arms.map(({ arm }) => arm),
  );
  const words = arms.map(({ arm, percentilesMs }) => `${arm} ${formatNumber(percentilesMs[50]!, 0)} ms`);
  const axis = { grid: true, tickCount: 5, format: ',.2~r' };
  return {
    id: 'estimate',
    title: `Estimated time to first token: ${trace.name} on ${model}`,
    key: `The turns of each arm, sorted by estimated time: ${trace.name} on ${model}.`,
    description: `Estimated times to the first token, by share of the turns. Medians: ${words.join('; ')}.`,
    data: arms.flatMap(({ arm, percentilesMs }) => percentilesMs.map((ms, percent) => ({ arm, percent, ms }))),
    spec: {
      width: PANEL_WIDTH,
      height: 200,
      encoding: {
        x: fieldQuantity('percent', 'Share of the turns, %', { domain: [0, 100] }, { tickCount: 5 }),
        y: fieldQuantity('ms', 'Time to first token, ms', { type: 'log', nice: true }, axis),
      },
      layer: [
        { transform: asLines, mark: 'line', encoding: { color, strokeDash } },
        layer('datum.percent % 10 === 5', { type: 'point', filled: true, size: 36 }, { color, shape }),
      ],
    },
  };
}
