import { type Figure, type FigureRow, HALF_PANEL_WIDTH } from '../../render/figure.ts';
import { formatNumber } from '../../render/table.ts';
import type { BreakEven, RunResults } from '../../store/records/results.ts';
import { breakEvenText } from '../verdict.ts';
import { armEncoding } from './arm-marks.ts';
import { distinct, facets, intervalLayer, layer, quantity } from './figure-parts.ts';
import { NAMED_ARMS } from './finding.ts';

const LEAST_TURNS = 6;
const MOST_TURNS = 20;

/** The number of turns to show, so that the lines cross if they do. */
function turnsShown(breakEven: readonly BreakEven[]): number {
  const turns = breakEven.flatMap(({ turn, high }) => [turn ?? 0, high ?? 0]);
  return Math.min(MOST_TURNS, Math.max(LEAST_TURNS, ...turns.map((turn) => turn + 2)));
}

/** Lines of an arm and of the texts that it is compared with, summed: the first turn is a miss, later ones are hits. */
function lineRows(ofArm: readonly BreakEven[], turns: number): FigureRow[] {
  const [{ arm, missMs, hitMs }] = ofArm as readonly [BreakEven];
  const line = (name: string, firstMs: number, laterMs: number): FigureRow[] =>
    Array.from({ length: turns }, (_, later) => {
      const ms = firstMs + later * laterMs;
      return { panel: arm, arm: name, turn: later + 1, ms, from: null, to: null, crossing: null };
    });
  return [
    ...ofArm.flatMap(({ against, textMissMs, textHitMs }) => line(against, textMissMs, textHitMs)),
    ...line(arm, missMs, hitMs),
  ];
}

/** The interval of the first break-even; the bound "never" is drawn at the end of the picture. */
function crossingRow(ofArm: readonly BreakEven[], turns: number): FigureRow {
  const [one] = ofArm as readonly [BreakEven];
  const from = one.low === null || one.low > turns ? null : one.low;
  const to = from === null ? null : Math.min(one.high ?? turns, turns);
  const crossing = ofArm.map((each) => `${each.against}: ${breakEvenText(each)}`).join('; ');
  return { panel: one.arm, arm: one.arm, turn: one.turn, ms: null, from, to, crossing };
}

/** `breaks even at turn 2 [2, 3] against rag`; where the interval holds "never", that it is not shown. */
function crossingWords(crossing: BreakEven): string {
  const { against, turn, low, high } = crossing;
  const text = breakEvenText(crossing);
  if (turn !== null && high !== null) return `breaks even at ${text} against ${against}`;
  return turn === null && low === null
    ? `never breaks even against ${against}`
    : `is not shown to break even against ${against} (${text})`;
}

/** Figure 5: the time of text and of each arm that keeps KV, summed over turns with one set of memories; undefined without such. */
export function breakEvenFigure(results: RunResults): Figure | undefined {
  const { breakEven } = results;
  if (breakEven.length === 0) return undefined;
  const turns = turnsShown(breakEven);
  const byArm = Map.groupBy(breakEven, ({ arm }) => arm);
  const data = [...byArm.values()].flatMap((ofArm) => [...lineRows(ofArm, turns), crossingRow(ofArm, turns)]);
  const panels = [...byArm.keys()];
  const looks = armEncoding(results, distinct([...breakEven.map(({ against }) => against), ...panels]));
  const legend = { ...looks.color.legend, symbolType: 'stroke', symbolStrokeWidth: 2, symbolSize: 500 };
  const color = { ...looks.color, legend };
  const strokeDash = { ...looks.strokeDash, legend };
  const x = quantity('Turn', { domain: [1, turns], nice: false }, { format: 'd', tickMinStep: 1, tickCount: 5 });
  const y = { field: 'ms', ...quantity('Time, ms, summed', {}, { tickCount: 4 }) };
  const isCrossing = `isValid(datum.crossing) && isValid(datum.turn) && datum.turn <= ${turns}`;
  const finding = [...byArm.values()]
    .slice(0, NAMED_ARMS)
    .map((ofArm) => `${ofArm[0]!.arm} ${ofArm.map(crossingWords).join(' and ')}`)
    .join('; ');
  const words = breakEven.map(
    (one) =>
      `${one.arm} against ${one.against}: ${breakEvenText(one)}, a first turn takes ${formatNumber(one.missMs, 1)} ms against ` +
      `${formatNumber(one.textMissMs, 1)} ms, a later one ${formatNumber(one.hitMs, 1)} ms against ${formatNumber(one.textHitMs, 1)} ms`,
  );
  return {
    id: 'break-even',
    title: `Figure 5. Time to first token, summed over turns: ${finding}`,
    key: 'Lines are sums of means; shaded is the 95 % interval of the break-even turn against the first text, dashed upright the turn itself.',
    description: `Break-even turn with its 95 % interval, shaded for the first of the texts. ${words.join('; ')}.`,
    data,
    spec: facets('panel', panels, 2, {
      width: HALF_PANEL_WIDTH,
      height: 120,
      layer: [
        intervalLayer('x', x, { encoding: { color }, mark: { type: 'rect', opacity: 0.16 }, bounds: ['from', 'to'] }),
        layer(isCrossing, { type: 'rule', strokeDash: [3, 3] }, { x: { ...x, field: 'turn' }, color }),
        layer('isValid(datum.ms)', 'line', { x: { ...x, field: 'turn' }, y, color, strokeDash }),
      ],
    }),
  };
}
