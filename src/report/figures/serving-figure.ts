import { type Figure } from '../../render/figure.ts';
import { formatNumber } from '../../render/table.ts';
import type { RunResults } from '../../store/records/results.ts';
import type { ServedLoad } from '../../store/records/measured.ts';
import { asLines, curveEncoding } from './arm-marks.ts';
import { distinct, layer, quantity } from './figure-parts.ts';

function servingFinding(loads: readonly ServedLoad[]): string {
  const clauses = [...Map.groupBy(loads, ({ arm }) => arm)].map(([arm, ofArm]) => {
    const served = ofArm.filter(({ saturated }) => !saturated).map(({ offered }) => offered);
    return `${arm} ${served.length === 0 ? 'none' : `${formatNumber(Math.max(...served), 2)}/s`}`;
  });
  return `Highest tested arrival rate that each arm sustains: ${clauses.join(', ')}`;
}

/** Figure 12: the median time to first token over the rate of arrival, both on logarithmic scales; undefined if not measured. */
export function servingFigure(results: RunResults): Figure | undefined {
  const loads = (results.measured?.serving?.loads ?? []).filter(({ ttftMs }) => ttftMs !== null);
  if (loads.length === 0) return undefined;
  const data = loads.map(({ arm, offered, ttftMs, saturated }) => ({
    arm,
    offered,
    p50: ttftMs!.p50,
    p95: ttftMs!.p95 ?? null,
    saturated: saturated ? 1 : 0,
  }));
  const looks = curveEncoding(results, distinct(data.map(({ arm }) => arm)));
  const words = data.map(
    ({ arm, offered, p50, saturated }) =>
      `${arm} at ${formatNumber(offered, 2)}/s ${formatNumber(p50, 0)} ms${saturated === 1 ? ', saturated' : ''}`,
  );
  const axis = { grid: true, tickCount: 5 };
  const arrival = quantity('Arrival rate, 1/s', { type: 'log', nice: false }, { ...axis, format: '.2~r' });
  const ttft = quantity('Time to first token, ms', { type: 'log', nice: true }, { ...axis, format: ',.2~r' });
  const points = { color: looks.color, shape: looks.shape };
  return {
    id: 'serving',
    title: `Figure 12. ${servingFinding(loads)}`,
    key: 'Points are medians from the planned arrival of a turn; hollow where the queue still grew.',
    description: `Medians from the planned arrival; hollow where the queue still grew. ${words.join('; ')}.`,
    data,
    spec: {
      width: 320,
      height: 200,
      encoding: { x: { field: 'offered', ...arrival }, y: { field: 'p50', ...ttft } },
      layer: [
        { transform: asLines, mark: 'line', encoding: { color: looks.color, strokeDash: looks.strokeDash } },
        layer('datum.saturated == 0', { type: 'point', filled: true, size: 50 }, points),
        layer('datum.saturated == 1', { type: 'point', filled: false, size: 50 }, points),
      ],
    },
  };
}
