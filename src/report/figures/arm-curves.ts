import type { TopLevelSpec } from 'vega-lite';
import type { RunResults } from '../../store/records/results.ts';
import { asLines, curveEncoding } from './arm-style.ts';
import { type FigureRow, inlineData } from './figure.ts';
import { PANEL_WIDTH } from './theme.ts';

/** A point of an arm's curve; `at` is one of the steps of the horizontal axis. */
export interface CurvePoint extends FigureRow {
  readonly panel: string;
  readonly arm: string;
  readonly at: string;
  readonly value: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** Share of a step over which the arms stand side by side. */
const SPREAD = 0.66;

/** The place of a point, in steps: an ordinal axis with offsets would draw no lines from step to step. */
function besideOthers(steps: readonly string[], arms: readonly string[]): string {
  const arm = `indexof(${JSON.stringify(arms)}, datum.arm) - ${(arms.length - 1) / 2}`;
  return `indexof(${JSON.stringify(steps)}, datum.at) + (${arm}) * ${SPREAD / arms.length}`;
}

/** Curves of all arms with their intervals, side by side within a step, since equal arms would hide one another. */
export function armCurves(
  results: RunResults,
  points: readonly CurvePoint[],
  titles: { readonly x: string; readonly y: string },
): TopLevelSpec {
  const distinct = <Value>(values: readonly Value[]): Value[] => [...new Set(values)];
  const arms = distinct(points.map(({ arm }) => arm));
  const panels = distinct(points.map(({ panel }) => panel));
  const { color, shape, strokeDash } = curveEncoding(results, arms);
  const steps = distinct(points.map(({ at }) => at));
  const x = {
    field: 'x',
    type: 'quantitative' as const,
    scale: { domain: [-0.5, steps.length - 0.5], nice: false, zero: false },
    axis: {
      title: titles.x,
      values: steps.map((_step, index) => index),
      labelExpr: `${JSON.stringify(steps)}[datum.value]`,
      grid: false,
    },
  };
  const y = {
    field: 'value',
    type: 'quantitative' as const,
    scale: { zero: true },
    axis: { title: titles.y, tickCount: 5 },
  };
  return {
    data: inlineData(points),
    facet: { field: 'panel', type: 'nominal', sort: panels, title: null, header: { labelAnchor: 'start' } },
    columns: 1,
    spacing: 14,
    transform: [{ calculate: besideOthers(steps, arms), as: 'x' }],
    spec: {
      width: PANEL_WIDTH,
      height: panels.length > 2 ? 110 : 160,
      encoding: { x, color },
      layer: [
        {
          transform: [{ filter: 'isValid(datum.low)' }],
          mark: { type: 'rule', opacity: 0.55 },
          encoding: { y: { ...y, field: 'low' }, y2: { field: 'high' } },
        },
        { transform: asLines, mark: { type: 'line' }, encoding: { y, strokeDash } },
        { mark: { type: 'point' }, encoding: { y, shape } },
      ],
    },
  };
}

/** The first and the last value of each curve, in words. */
export function curvesInWords(points: readonly CurvePoint[], unit: string): string {
  const curves = new Map<string, CurvePoint[]>();
  for (const point of points) {
    const key = point.panel === '' ? point.arm : `${point.panel}, ${point.arm}`;
    curves.set(key, [...(curves.get(key) ?? []), point]);
  }
  const text = ({ value, at }: CurvePoint) => `${value.toFixed(1)} ${unit} at ${at}`;
  return [...curves]
    .map(([name, curve]) => `${name}: ${[...new Set([curve[0]!, curve.at(-1)!])].map(text).join(', ')}`)
    .join('; ');
}
