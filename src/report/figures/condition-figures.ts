/** Figures of quality by condition: 2 (window), 6 (depth of the conversation), 10 (coreference) and F3 (number of memories). */
import { type Figure, PANEL_WIDTH } from '../../render/figure.ts';
import { formatNumber } from '../../render/format-number.ts';
import type { ConditionResults, RunResults } from '../../store/records/run-results.ts';
import { baselineArm, joinedArm } from '../find-arms-and-comparisons.ts';
import { findMetric, primaryMetric, type MetricDisplay } from '../metric-display.ts';
import { shareLabel } from '../tables/condition-tables.ts';
import { asLines, curveEncoding, isContender, namedArmEncoding } from './arm-encoding.ts';
import { distinct, estimateFields, facets, intervalLayer, estimateText, MEANS, nameAxis, quantity } from './figure-parts.ts'; // prettier-ignore
import { capitalised, changeFinding, NAMED_ARMS } from '../verdict-wording.ts';

type CurvePoint = ReturnType<typeof curvePoints>[number];

/** Share of the distance between two conditions over which points of the arms are spread. */
const SPREAD = 0.66;

/** Curves of all arms with intervals; undefined without points. Points are spread within a condition, so that equal arms are visible. */
function curveFigure(
  results: RunResults,
  { title, unit }: MetricDisplay,
  data: readonly CurvePoint[],
  figure: { id: string; title: string; by: string; x: string; described?: readonly CurvePoint[] },
): Figure | undefined {
  if (data.length === 0) return undefined;
  const arms = distinct(data.map(({ arm }) => arm));
  const panels = distinct(data.map(({ panel }) => panel));
  const steps = distinct(data.map(({ at }) => at));
  const { color, shape, strokeDash } = curveEncoding(results, arms);
  const scale = { domain: [-0.5, steps.length - 0.5], nice: false, zero: false };
  const labels = { values: steps.map((_, index) => index), labelExpr: `${JSON.stringify(steps)}[datum.value]` };
  const x = { field: 'x', ...quantity(figure.x, scale, { ...labels, grid: false }) };
  const y = { field: 'value', ...quantity(`${title}, ${unit}`, { zero: true }, { tickCount: 5 }) };
  // A quantitative axis: an ordinal one with offsets would not connect the points.
  const offset = `(indexof(${JSON.stringify(arms)}, datum.arm) - ${(arms.length - 1) / 2}) * ${SPREAD / arms.length}`;
  const curves = Map.groupBy(figure.described ?? data, ({ panel, arm }) => (panel === '' ? arm : `${panel}, ${arm}`));
  const words = [...curves].map(([curve, points]) => {
    const ends = distinct([points[0]!, points.at(-1)!]).map(({ value, at }) => `${value.toFixed(1)} ${unit} at ${at}`);
    return `${curve}: ${ends.join(', ')}`;
  });
  return {
    id: figure.id,
    title: figure.title,
    key: MEANS,
    description: `${title} with 95 % intervals, by ${figure.by}. ${words.join('; ')}.`,
    data,
    spec: {
      transform: [{ calculate: `indexof(${JSON.stringify(steps)}, datum.at) + ${offset}`, as: 'x' }],
      ...facets('panel', panels, 1, {
        width: PANEL_WIDTH,
        height: panels.length > 2 ? 110 : 160,
        encoding: { x, color },
        layer: [
          intervalLayer('y', y),
          { transform: asLines, mark: { type: 'line' }, encoding: { y, strokeDash } },
          { mark: { type: 'point' }, encoding: { y, shape } },
        ],
      }),
    },
  };
}

function drawnConditions(results: RunResults, place: ConditionResults['place'] = null): ConditionResults[] {
  return results.conditions
    .filter((one) => one.place === place && isContender(results, one.arm))
    .sort((a, b) => a.condition - b.condition);
}

/** `from 1 to 80 memories, exact match of rag goes from 95.8 […] to 89.6 […] %, undecided, of dki-blocks falls …` */
function curvesFinding(
  results: RunResults,
  conditions: readonly ConditionResults[],
  { name, scale, label, unit }: MetricDisplay,
  range: (first: number, last: number) => string,
): string {
  const steps = conditions.map(({ condition }) => condition);
  const [first, last] = [Math.min(...steps), Math.max(...steps)];
  const base = (arm: string): string => results.arms.find((one) => one.arm === arm)?.traits.base ?? arm;
  const drawn = distinct(conditions.map(({ arm }) => base(arm)));
  const usual = [baselineArm(results.arms), joinedArm(results.arms)].flatMap((arm) => arm?.traits.base ?? []);
  const named = usual.some((arm) => drawn.includes(arm)) ? usual : drawn.slice(0, NAMED_ARMS);
  const clauses = named.flatMap((arm) => {
    const [from, to] = [first, last].map((step) => {
      const found = conditions.find((one) => one.condition === step && base(one.arm) === arm)?.metrics[name];
      return found && { mean: found.mean * scale, low: found.low * scale, high: found.high * scale };
    });
    if (!from || !to) return [];
    return [`of ${arm} ${first === last ? `is ${formatNumber(to.mean, 1)} ${unit}` : changeFinding(from, to, unit)}`];
  });
  return `${range(first, last)}, ${label} ${clauses.join(', ')}`;
}

interface PointNames {
  readonly panel?: string;
  readonly at?: (condition: number) => string;
  readonly name?: (arm: string) => string;
}

function curvePoints(
  conditions: readonly ConditionResults[],
  metric: MetricDisplay,
  { panel = '', at = String, name = (arm) => arm }: PointNames = {},
) {
  return conditions.flatMap(({ arm, condition, metrics }) => {
    const quality = metric.of(metrics);
    if (quality === null) return [];
    return [{ panel, arm: name(arm), at: at(condition), ...estimateFields(quality, metric.scale) }];
  });
}

const budgets = [
  ['half', 'Same budget: half of the remaining window', 'with half of the remaining window as budget'],
  ['all', 'KV budget: all of the remaining window', 'with all of it'],
] as const;

/** Figure 2: task success by size of the memories, as a share of the window; undefined if quality is unknown. */
export function contextFigure(results: RunResults): Figure | undefined {
  const success = findMetric(results.run, 'taskSuccess')!;
  const traits = new Map(results.arms.map((one) => [one.arm, one.traits]));
  const name = (arm: string) => traits.get(arm)?.base ?? arm;
  const range = (first: number, last: number) => `from ${shareLabel(first)} to ${shareLabel(last)} of the window`;
  const shown = budgets.flatMap(([budget, panel, words]) => {
    const isOfBudget = (arm: string) => (traits.get(arm)?.settings.budget ?? 'half') === budget;
    const conditions = drawnConditions(results).filter(({ arm }) => isOfBudget(arm));
    const points = curvePoints(conditions, success, { panel, at: shareLabel, name });
    if (points.length === 0) return [];
    return [{ points, finding: capitalised(`${words}, ${curvesFinding(results, conditions, success, range)}`) }];
  });
  const data = shown.flatMap(({ points }) => points);
  return curveFigure(results, success, data, {
    id: 'context',
    title: `Figure 2. ${shown.map(({ finding }) => finding).join('. ')}`,
    by: 'share of the window',
    x: 'Memories, share of the window',
  });
}

/** Figure 6: recall by depth of the conversation; undefined if quality is unknown. */
export function coherenceFigure(results: RunResults): Figure | undefined {
  const primary = primaryMetric(results.run);
  const conditions = drawnConditions(results);
  const range = (first: number, last: number) => `from turn ${first} to turn ${last} of the conversation`;
  return curveFigure(results, primary, curvePoints(conditions, primary), {
    id: 'coherence',
    title: `Figure 6. ${capitalised(curvesFinding(results, conditions, primary, range))}`,
    by: 'turn of the conversation',
    x: 'Turn of the conversation',
  });
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
  const conditions = drawnConditions(results);
  const data = places.flatMap(({ place, panel }) => curvePoints(drawnConditions(results, place), primary, { panel }));
  const range = (first: number, last: number) => `from ${first} to ${last} memories`;
  return curveFigure(results, primary, data, {
    id: 'recall',
    title: `Figure F3. ${capitalised(curvesFinding(results, conditions, primary, range))}`,
    by: 'number of memories',
    x: 'Memories',
    described: curvePoints(conditions, primary),
  });
}

/** Panels by condition of suite `coreference`, the number of memories that an answer needs. */
const needs: Readonly<Record<string, { readonly panel: string; readonly words: string }>> = {
  1: { panel: 'One memory answers', words: 'questions that one memory answers' },
  2: { panel: 'The previous memory is also needed', words: 'those that also need the previous one' },
};

/** Figure 10: the primary metric by arm, by whether the previous memory is also needed; undefined if quality is unknown. */
export function coreferenceFigure(results: RunResults): Figure | undefined {
  const primary = primaryMetric(results.run);
  const { title, unit } = primary;
  const conditions = drawnConditions(results);
  const data = curvePoints(conditions, primary).map(({ at, arm, value, low, high }) => {
    return { panel: needs[at]?.panel ?? '', arm, value, low, high };
  });
  if (data.length === 0) return undefined;
  const arms = distinct(data.map(({ arm }) => arm));
  const marks = namedArmEncoding(results, arms);
  const x = quantity(`${title}, ${unit}`, unit === '%' ? { domain: [0, 100] } : {}, { grid: true, tickCount: 5 });
  const y = nameAxis('arm', arms);
  const range = (first: number, last: number) => `from ${needs[first]?.words ?? ''} to ${needs[last]?.words ?? ''}`;
  const words = data.map(({ panel, arm, ...value }) => `${panel.toLowerCase()}, ${arm} ${estimateText(value, unit)}`);
  const panels = Object.values(needs).map(({ panel }) => panel);
  return {
    id: 'coreference',
    title: `Figure 10. ${capitalised(curvesFinding(results, conditions, primary, range))}`,
    key: MEANS,
    description: `${title} with 95 % intervals: ${words.join('; ')}.`,
    data,
    spec: facets('panel', panels, 1, {
      width: 240,
      height: 20 * arms.length,
      layer: [
        intervalLayer('x', x, { encoding: { y, color: marks.color }, mark: {} }),
        { mark: { type: 'point' }, encoding: { y, x: { ...x, field: 'value' }, ...marks } },
      ],
    }),
  };
}
