/** Figures of quality by condition: 2 (window), 6 (depth of the conversation), 10 (coreference) and F3 (number of memories). */
import { type Figure, type FigureRow, type FigureSpec, PANEL_WIDTH } from '../../render/figure.ts';
import { formatNumber } from '../../render/table.ts';
import type { ConditionResults, RunResults } from '../../store/records/results.ts';
import type { Estimate } from '../../store/records/estimate.ts';
import { baselineArm, joinedArm } from '../compared-arms.ts';
import { metricNamed, primaryMetric, type ShownMetric } from '../shown-metric.ts';
import { shareLabel } from '../tables/condition-tables.ts';
import { asLines, curveEncoding, isContender, namedArmEncoding } from './arm-marks.ts';
import { distinct, estimateFields, facets, intervalLayer, inWords, MEANS, nameAxis, quantity } from './figure-parts.ts';
import { capitalised, changeFinding, NAMED_ARMS } from './finding.ts';

/** A point of an arm's curve; `at` is one of the steps of the horizontal axis. */
interface CurvePoint extends FigureRow {
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
function placeExpression(steps: readonly string[], arms: readonly string[]): string {
  const arm = `indexof(${JSON.stringify(arms)}, datum.arm) - ${(arms.length - 1) / 2}`;
  return `indexof(${JSON.stringify(steps)}, datum.at) + (${arm}) * ${SPREAD / arms.length}`;
}

/** Curves of all arms with their intervals, side by side within a step, since equal arms would hide one another. */
function curves(
  results: RunResults,
  points: readonly CurvePoint[],
  titles: { readonly x: string; readonly y: string },
): FigureSpec {
  const arms = distinct(points.map(({ arm }) => arm));
  const names = distinct(points.map(({ panel }) => panel));
  const steps = distinct(points.map(({ at }) => at));
  const { color, shape, strokeDash } = curveEncoding(results, arms);
  const scale = { domain: [-0.5, steps.length - 0.5], nice: false, zero: false };
  const labels = { values: steps.map((_, index) => index), labelExpr: `${JSON.stringify(steps)}[datum.value]` };
  const x = { field: 'x', ...quantity(titles.x, scale, { ...labels, grid: false }) };
  const y = { field: 'value', ...quantity(titles.y, { zero: true }, { tickCount: 5 }) };
  return {
    transform: [{ calculate: placeExpression(steps, arms), as: 'x' }],
    ...facets('panel', names, 1, {
      width: PANEL_WIDTH,
      height: names.length > 2 ? 110 : 160,
      encoding: { x, color },
      layer: [
        intervalLayer('y', y),
        { transform: asLines, mark: { type: 'line' }, encoding: { y, strokeDash } },
        { mark: { type: 'point' }, encoding: { y, shape } },
      ],
    }),
  };
}

function curvesInWords(points: readonly CurvePoint[], unit: string): string {
  const name = ({ panel, arm }: CurvePoint) => (panel === '' ? arm : `${panel}, ${arm}`);
  const text = ({ value, at }: CurvePoint) => `${value.toFixed(1)} ${unit} at ${at}`;
  return [...Map.groupBy(points, name)]
    .map(
      ([curve, ofCurve]) =>
        `${curve}: ${distinct([ofCurve[0]!, ofCurve.at(-1)!])
          .map(text)
          .join(', ')}`,
    )
    .join('; ');
}

/** The conditions that are drawn: of arms that compete, in ascending order. */
function drawnConditions(results: RunResults, place: ConditionResults['place'] = null): ConditionResults[] {
  return results.conditions
    .filter((one) => one.place === place && isContender(results, one.arm))
    .sort((a, b) => a.condition - b.condition);
}

/**
 * The finding of quality by condition, from the first to the last: `from 1 to 80 memories, exact match of rag shows no change
 * (95.8 and 89.6 %), of dki-blocks falls from …`. It names the baseline and the first planned arm that injects, or else the first arms.
 */
function curvesFinding(
  results: RunResults,
  conditions: readonly ConditionResults[],
  metric: ShownMetric,
  range: (first: number, last: number) => string,
): string {
  const { scale, label, unit } = metric;
  const steps = conditions.map(({ condition }) => condition);
  const [first, last] = [Math.min(...steps), Math.max(...steps)];
  const base = (arm: string): string => results.arms.find((one) => one.arm === arm)?.traits.base ?? arm;
  const drawn = distinct(conditions.map(({ arm }) => base(arm)));
  const usual = [baselineArm(results.arms), joinedArm(results.arms)].flatMap((arm) => arm?.traits.base ?? []);
  const named = usual.some((arm) => drawn.includes(arm)) ? usual : drawn.slice(0, NAMED_ARMS);
  const measured = (arm: string, step: number): Estimate | null => {
    const found = conditions.find((one) => one.condition === step && base(one.arm) === arm);
    const estimate = found === undefined ? null : metric.of(found.metrics);
    if (estimate === null) return null;
    return { ...estimate, mean: estimate.mean * scale, low: estimate.low * scale, high: estimate.high * scale };
  };
  const clauses = named.flatMap((arm) => {
    const [from, to] = [measured(arm, first), measured(arm, last)];
    if (from === null || to === null) return [];
    return [`of ${arm} ${first === last ? `is ${formatNumber(to.mean, 1)} ${unit}` : changeFinding(from, to, unit)}`];
  });
  return `${range(first, last)}, ${label} ${clauses.join(', ')}`;
}

function curvePoints(
  conditions: readonly ConditionResults[],
  metric: ShownMetric,
  {
    panel = '',
    at = String,
    name = (arm) => arm,
  }: { readonly panel?: string; readonly at?: (condition: number) => string; readonly name?: (arm: string) => string },
): CurvePoint[] {
  return conditions.flatMap(({ arm, condition, metrics }) => {
    const quality = metric.of(metrics);
    return quality === null
      ? []
      : [{ panel, arm: name(arm), at: at(condition), ...estimateFields(quality, metric.scale) }];
  });
}

const budgets = [
  {
    budget: 'half',
    panel: 'Same budget: half of the remaining window',
    words: 'with half of the remaining window as budget',
  },
  { budget: 'all', panel: 'KV budget: all of the remaining window', words: 'with all of it' },
] as const;

/** Figure 2: task success by the share of the window that the memories would fill; undefined if quality is unknown. */
export function contextFigure(results: RunResults): Figure | undefined {
  const success = metricNamed(results.run, 'taskSuccess')!;
  const traits = new Map(results.arms.map((one) => [one.arm, one.traits]));
  const shown = budgets
    .map(({ budget, panel, words }) => {
      const conditions = drawnConditions(results).filter(
        ({ arm }) => (traits.get(arm)?.settings.budget ?? 'half') === budget,
      );
      const name = (arm: string) => traits.get(arm)?.base ?? arm;
      return { conditions, words, points: curvePoints(conditions, success, { panel, at: shareLabel, name }) };
    })
    .filter(({ points }) => points.length > 0);
  if (shown.length === 0) return undefined;
  const data = shown.flatMap(({ points }) => points);
  const range = (first: number, last: number) => `from ${shareLabel(first)} to ${shareLabel(last)} of the window`;
  const findings = shown.map(({ conditions, words }) =>
    capitalised(`${words}, ${curvesFinding(results, conditions, success, range)}`),
  );
  return {
    id: 'context',
    title: `Figure 2. ${findings.join('. ')}`,
    key: MEANS,
    description: `Task success with 95 % intervals, by share of the window. ${curvesInWords(data, '%')}.`,
    data,
    spec: curves(results, data, { x: 'Memories, share of the window', y: 'Task success, %' }),
  };
}

/** Figure 6: recall by depth of the conversation; undefined if quality is unknown. */
export function coherenceFigure(results: RunResults): Figure | undefined {
  const primary = primaryMetric(results.run);
  const conditions = drawnConditions(results);
  const data = curvePoints(conditions, primary, {});
  if (data.length === 0) return undefined;
  const range = (first: number, last: number) => `from turn ${first} to turn ${last} of the conversation`;
  return {
    id: 'coherence',
    title: `Figure 6. ${capitalised(curvesFinding(results, conditions, primary, range))}`,
    key: MEANS,
    description: `${primary.title} with 95 % intervals, by turn of the conversation. ${curvesInWords(data, primary.unit)}.`,
    data,
    spec: curves(results, data, { x: 'Turn of the conversation', y: `${primary.title}, ${primary.unit}` }),
  };
}

const places = [
  { place: null, panel: 'All evidence' },
  { place: 'early', panel: 'Evidence in the oldest third' },
  { place: 'middle', panel: 'Evidence in the middle third' },
  { place: 'late', panel: 'Evidence in the newest third' },
] as const;

/** Figure F3: recall by number of memories and place of the evidence; undefined if quality is unknown. */
export function recallFigure(results: RunResults): Figure | undefined {
  const primary = primaryMetric(results.run);
  const data = places.flatMap(({ place, panel }) => curvePoints(drawnConditions(results, place), primary, { panel }));
  if (data.length === 0) return undefined;
  const overall = curvePoints(drawnConditions(results), primary, {});
  const range = (first: number, last: number) => `from ${first} to ${last} memories`;
  return {
    id: 'recall',
    title: `Figure F3. ${capitalised(curvesFinding(results, drawnConditions(results), primary, range))}`,
    key: MEANS,
    description: `${primary.title} with 95 % intervals, by number of memories. ${curvesInWords(overall, primary.unit)}.`,
    data,
    spec: curves(results, data, { x: 'Memories', y: `${primary.title}, ${primary.unit}` }),
  };
}

/** Conditions of the suite `coreference`: the number of memories that an answer needs. */
const needs: Readonly<Record<number, { readonly panel: string; readonly words: string }>> = {
  1: { panel: 'One memory answers', words: 'questions that one memory answers' },
  2: { panel: 'The previous memory is needed, too', words: 'those that need the previous one, too' },
};

/** Figure 10: the primary metric by arm if one memory answers, and if the previous one is needed, too; undefined if quality is unknown. */
export function coreferenceFigure(results: RunResults): Figure | undefined {
  const primary = primaryMetric(results.run);
  const { title, unit, scale } = primary;
  const conditions = drawnConditions(results);
  const data = conditions.flatMap(({ arm, condition, metrics }) => {
    const quality = primary.of(metrics);
    return quality === null ? [] : [{ panel: needs[condition]?.panel ?? '', arm, ...estimateFields(quality, scale) }];
  });
  if (data.length === 0) return undefined;
  const arms = distinct(data.map(({ arm }) => arm));
  const marks = namedArmEncoding(results, arms);
  const scale100 = unit === '%' ? { domain: [0, 100] } : {};
  const x = quantity(`${title}, ${unit}`, scale100, { grid: true, tickCount: 5 });
  const y = nameAxis('arm', arms);
  const range = (first: number, last: number) => `from ${needs[first]?.words ?? ''} to ${needs[last]?.words ?? ''}`;
  const words = data.map(({ panel, arm, ...value }) => `${panel.toLowerCase()}, ${arm} ${inWords(value, unit)}`);
  return {
    id: 'coreference',
    title: `Figure 10. ${capitalised(curvesFinding(results, conditions, primary, range))}`,
    key: MEANS,
    description: `${title} with 95 % intervals: ${words.join('; ')}.`,
    data,
    spec: facets(
      'panel',
      Object.values(needs).map(({ panel }) => panel),
      1,
      {
        // prettier-ignore
        width: 240,
        height: 20 * arms.length,
        layer: [
          intervalLayer('x', x, { encoding: { y, color: marks.color }, mark: {} }),
          { mark: { type: 'point' }, encoding: { y, x: { ...x, field: 'value' }, ...marks } },
        ],
      },
    ),
  };
}
