/** Results by condition: tables and figures 2 (window), 6 (depth), 10 (coreference) and F3 (number of memories), tables 17 (several turns) and F2. */
import { type Figure, PANEL_WIDTH } from '../../render/figure.ts';
import { formatNumber } from '../../render/format-number.ts';
import {
  type Cell,
  countColumn,
  estimateCell,
  intervalColumn,
  type ItemBlock,
  type ItemColumn,
  numberCell,
  numberColumn,
  type Table,
  titled,
} from '../../render/table.ts';
import type { ArmResults, ConditionResults, MultiTurnResults, RunResults } from '../../store/records/run-results.ts';
import { asLines, curveEncoding, isContender, namedArmEncoding } from '../figures/arm-encoding.ts';
import {
  distinct,
  estimateFields,
  estimateText,
  facets,
  intervalLayer,
  MEANS,
  nameAxis,
  quantity,
} from '../figures/figure-parts.ts';
import { baselineArm, joinedArm } from '../find-arms-and-comparisons.ts';
import { findMetric, type MetricDisplay, primaryMetric } from '../metric-display.ts';
import { runTable } from '../tables/table-parts.ts';
import { capitalised, changeFinding, NAMED_ARMS } from '../verdict-wording.ts';

interface ArmColumns {
  readonly title: string;
  /** Columns with a unit have intervals. */
  readonly unit?: string;
  /** All by default. */
  readonly arms?: readonly string[];
  readonly cell: (results: ConditionResults) => Cell;
}

/** The results of an arm under a condition; by default over all places of the evidence. */
function findCondition(
  { conditions }: RunResults,
  arm: string,
  condition: number,
  place: ConditionResults['place'] = null,
): ConditionResults | undefined {
  return conditions.find((one) => one.arm === arm && one.condition === condition && one.place === place);
}

const baseName = ({ arms }: RunResults, arm: string): string => arms.find((one) => one.arm === arm)?.traits.base ?? arm;

const budgetOf = ({ traits }: ArmResults) => traits.settings.budget ?? 'half';

const conditionsOf = ({ conditions }: RunResults): number[] =>
  [...new Set(conditions.map(({ condition }) => condition))].sort((a, b) => a - b);

/** `25 %` */
const shareLabel = (condition: number): string => `${formatNumber(condition * 100, 0)} %`;

function conditionTable(
  results: RunResults,
  groups: readonly ArmColumns[],
  table: Pick<Table, 'id' | 'rowHeading' | 'notes'> & { readonly title: string },
  label: (condition: number) => string = String,
): Table {
  const all = results.arms.map(({ arm }) => arm);
  const blocks = groups.map(({ title: group, unit, arms = all, cell }): ItemBlock<number> => ({
    title: group,
    columns: arms.map((arm) => ({
      key: `${group}: ${arm}`,
      heading: `${baseName(results, arm)}${unit === undefined ? '' : ` (${unit})`}`,
      kind: unit === undefined ? 'number' : 'interval',
      cell: (condition) => {
        const found = findCondition(results, arm, condition);
        return found && cell(found);
      },
    })),
  }));
  return runTable(results, conditionsOf(results), label, { ...table, blocks });
}

function qualityAndTokens({ run }: RunResults): ArmColumns[] {
  const primary = primaryMetric(run);
  return [
    { title: primary.title, unit: primary.unit, cell: ({ metrics }) => primary.cell(metrics) },
    { title: 'Tokens evaluated', cell: ({ tokens }) => numberCell(tokens.evaluated) },
  ];
}

/** Table 2: a fixed window and a growing number of memories, with half or all of the remaining window as their budget. */
export function contextTable(results: RunResults): Table {
  const { model } = results.run;
  const success = findMetric(results.run, 'taskSuccess')!;
  const withBudget = (budget: 'half' | 'all'): string[] =>
    results.arms.flatMap((one) => (budgetOf(one) === budget ? one.arm : []));
  const budgets = [
    { name: 'half', title: 'Task success, same budget (half of the remaining window)', arms: withBudget('half') },
    { name: 'all', title: 'Task success, KV budget (all of the remaining window)', arms: withBudget('all') },
  ].filter(({ arms }) => arms.length > 0);
  const memories = (title: string, count: 'kept' | 'dropped'): ArmColumns[] =>
    budgets.map(({ name, arms }) => ({
      title: `Memories ${title}, budget ${name}`,
      arms,
      cell: (found) => numberCell(found.memories[count]),
    }));
  const groups = [
    ...budgets.map((budget): ArmColumns => ({ ...budget, unit: '%', cell: ({ metrics }) => success.cell(metrics) })),
    ...memories('in the prompt', 'kept'),
    ...memories('dropped', 'dropped'),
  ];
  const table = {
    id: 'table-2',
    title: `Table 2. A window of ${model.contextTokens} tokens and a growing number of memories: ${model.name}`,
    rowHeading: 'memories (share of the window)',
    notes: [
      'Retrieval returns every memory; they enter in rank order until the budget is full, and are placed by age.',
      'A budget of all of the remaining window leaves no tokens for history; these questions have no history.',
      'Means with 95 % intervals over users; every user has questions under every condition.',
    ],
  };
  return conditionTable(results, groups, table, shareLabel);
}

export function coherenceTable(results: RunResults): Table {
  return conditionTable(results, qualityAndTokens(results), {
    id: 'table-6',
    title: 'Table 6. Recall by depth of the conversation',
    rowHeading: 'turn',
    notes: [
      "One conversation per user; the history of a question holds the arm's own answers.",
      'Every third turn states a fact that is in no memory; the question two turns later is about it.',
    ],
  });
}

/** Table 10: questions that one memory answers, and questions that also need the previous memory. */
export function coreferenceTable(results: RunResults): Table {
  return conditionTable(results, qualityAndTokens(results), {
    id: 'table-10',
    title: 'Table 10. Memories that refer to the previous one',
    rowHeading: 'memories that an answer needs',
    notes: [
      'Two people each have a memory that names them, and a next one that says "she" or "he" and states the same kind of fact.',
      'If an answer needs both memories: blocks of dki-blocks and dki-parallel do not see each other, those of dki-link:K in part.',
    ],
  });
}

export function latencyScalingTable(results: RunResults): Table {
  const groups: readonly ArmColumns[] = [
    { title: 'Time to first token', unit: 'ms', cell: ({ metrics }) => estimateCell(metrics.ttftMs) },
    { title: 'Memory tokens', cell: ({ memories }) => numberCell(memories.tokens) },
    { title: 'Tokens evaluated', cell: ({ tokens }) => numberCell(tokens.evaluated) },
  ];
  return conditionTable(results, groups, {
    id: 'table-f2',
    title: 'Figure F2, data. Time to first token by number of memories',
    rowHeading: 'memories',
    notes: ['Retrieval returns every memory. Means over all turns, cache hits and misses.'],
  });
}

export function recallScalingTable(results: RunResults): Table {
  const primary = primaryMetric(results.run);
  const places = [null, 'early', 'middle', 'late'] as const;
  const groups = places.map((place): ArmColumns => ({
    title: `${primary.title}${place === null ? '' : `, evidence ${place === 'middle' ? 'in the middle' : place}`}`,
    unit: primary.unit,
    cell: ({ arm, condition }) => primary.cell(findCondition(results, arm, condition, place)?.metrics),
  }));
  return conditionTable(results, groups, {
    id: 'table-f3',
    title: 'Figure F3, data. Recall by number of memories and place of the evidence',
    rowHeading: 'memories',
    notes: ['Early, middle, late: the third of the memories, by age, that holds the evidence.'],
  });
}

/** Table 17: right answers by turn on one context, and what each arm keeps of it; undefined for other runs. */
export function multiTurnTable(results: RunResults): Table | undefined {
  const { run, multiTurn } = results;
  if (multiTurn === undefined) return undefined;
  const primary = primaryMetric(run);
  const turns = conditionsOf(results);
  const byTurn = turns.map((turn): ItemColumn<MultiTurnResults> =>
    intervalColumn(`turn ${turn}`, `turn ${turn} (${primary.unit})`, ({ arm }) =>
      primary.cell(findCondition(results, arm, turn)?.metrics),
    ),
  );
  const change = `Δ turn ${turns.at(-1)} vs ${turns[0]}`;
  return runTable(results, multiTurn, ({ arm }) => arm, {
    id: 'table-17',
    title: `Table 17. Several questions on one context: ${run.model.name}`,
    blocks: [
      titled(primary.title, [...byTurn, primary.differenceColumn('change', change, (one) => one.change)]),
      titled('Memories in the prompt', [
        countColumn('bytes', 'KV bytes', ({ promptBytes }) => promptBytes),
        numberColumn('repaired', 'tokens repaired', ({ repairedTokens }) => repairedTokens),
      ]),
    ],
    notes: [
      'One context per user. Each turn asks for another of its memories, without the questions before it; all memories are in the prompt.',
      'Tokens are evicted at the first turn and stay so; snapkv chooses them by the first question. KV bytes: as stored, without the header.',
      '@repair=N joins the whole blocks of the N memories that retrieval ranks first, @repair=N:random of as many others. Table 11 tests',
      'each rule against random tokens, and each choice of blocks against random blocks.',
    ],
  });
}

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
  const drawn = distinct(conditions.map(({ arm }) => baseName(results, arm)));
  const usual = [baselineArm(results.arms), joinedArm(results.arms)].flatMap((arm) => arm?.traits.base ?? []);
  const named = usual.some((arm) => drawn.includes(arm)) ? usual : drawn.slice(0, NAMED_ARMS);
  const clauses = named.flatMap((arm) => {
    const [from, to] = [first, last].map((step) => {
      const measured = conditions.find((one) => one.condition === step && baseName(results, one.arm) === arm);
      const found = measured?.metrics[name];
      return found && { mean: found.mean * scale, low: found.low * scale, high: found.high * scale };
    });
    if (!from || !to) return [];
    return [`of ${arm} ${first === last ? `is ${formatNumber(to.mean, 1)} ${unit}` : changeFinding(from, to, unit)}`];
  });
  return `${range(first, last)}, ${label} ${clauses.join(', ')}`;
}

function curvePoints(
  conditions: readonly ConditionResults[],
  metric: MetricDisplay,
  { panel = '', at = String as (condition: number) => string, name = (arm: string) => arm } = {},
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
  const name = (arm: string) => baseName(results, arm);
  const range = (first: number, last: number) => `from ${shareLabel(first)} to ${shareLabel(last)} of the window`;
  const shown = budgets.flatMap(([budget, panel, words]) => {
    const arms = results.arms.filter((one) => budgetOf(one) === budget).map(({ arm }) => arm);
    const conditions = drawnConditions(results).filter(({ arm }) => arms.includes(arm));
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
  const data = curvePoints(conditions, primary).map(({ at, ...point }) => ({
    ...point,
    panel: needs[at]?.panel ?? '',
  }));
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
