/** Results by condition: tables 2 (window), 10 (coreference), 17 (several turns) and F2, tables and figures 6 (depth) and F3 (number of memories). */
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
import { asLines, curveEncoding, isContender } from '../figures/arm-encoding.ts';
import { distinct, estimateFields, facets, intervalLayer, MEANS, quantity } from '../figures/figure-parts.ts';
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

/** Share of the distance between two conditions over which points of the arms are spread. */
const SPREAD = 0.66;

interface Curves {
  readonly id: string;
  readonly number: string;
  /** The conditions in words, and as the title of their axis. */
  readonly by: string;
  readonly x: string;
  readonly range: (first: number, last: number) => string;
  readonly panels: readonly { readonly place: ConditionResults['place']; readonly panel: string }[];
}

/** Curves of the primary metric of all arms; undefined without points. Points are spread within a condition, so that equal arms are visible. */
function curveFigure(results: RunResults, { id, number, by, x: heading, range, panels }: Curves): Figure | undefined {
  const primary = primaryMetric(results.run);
  const { title, unit } = primary;
  const conditions = drawnConditions(results);
  const data = panels.flatMap(({ place, panel }) => curvePoints(drawnConditions(results, place), primary, panel));
  if (data.length === 0) return undefined;
  const arms = distinct(data.map(({ arm }) => arm));
  const drawn = distinct(data.map(({ panel }) => panel));
  const steps = distinct(data.map(({ at }) => at));
  const { color, shape, strokeDash } = curveEncoding(results, arms);
  const scale = { domain: [-0.5, steps.length - 0.5], nice: false, zero: false };
  const labels = { values: steps.map((_, index) => index), labelExpr: `${JSON.stringify(steps)}[datum.value]` };
  const x = { field: 'x', ...quantity(heading, scale, { ...labels, grid: false }) };
  const y = { field: 'value', ...quantity(`${title}, ${unit}`, { zero: true }, { tickCount: 5 }) };
  // A quantitative axis: an ordinal one with offsets would not connect the points.
  const offset = `(indexof(${JSON.stringify(arms)}, datum.arm) - ${(arms.length - 1) / 2}) * ${SPREAD / arms.length}`;
  const usual = [baselineArm(results.arms), joinedArm(results.arms)];
  const curves = Map.groupBy(curvePoints(conditions, primary), ({ arm }) => arm);
  const words = [...curves].map(([arm, points]) => {
    const ends = distinct([points[0]!, points.at(-1)!]).map(({ value, at }) => `${value.toFixed(1)} ${unit} at ${at}`);
    return `${arm}: ${ends.join(', ')}`;
  });
  return {
    id,
    title: `Figure ${number}. ${conditionsFinding(conditions, primary, range, usual)}`,
    key: MEANS,
    description: `${title} with 95 % intervals, by ${by}. ${words.join('; ')}.`,
    data,
    spec: {
      transform: [{ calculate: `indexof(${JSON.stringify(steps)}, datum.at) + ${offset}`, as: 'x' }],
      ...facets('panel', drawn, 1, {
        width: PANEL_WIDTH,
        height: drawn.length > 2 ? 110 : 160,
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

/** `From 1 to 80 memories, exact match of rag goes from 95.8 […] to 89.6 […] %, undecided, of dki-blocks falls …` */
export function conditionsFinding(
  conditions: readonly ConditionResults[],
  { name, scale, label, unit }: Pick<MetricDisplay, 'name' | 'scale' | 'label' | 'unit'>,
  range: (first: number, last: number) => string,
  usualArms: readonly (ArmResults | undefined)[],
): string {
  const steps = conditions.map(({ condition }) => condition);
  const [first, last] = [Math.min(...steps), Math.max(...steps)];
  const drawn = distinct(conditions.map(({ arm }) => arm));
  const usual = usualArms.flatMap((one) => one?.arm ?? []);
  const named = usual.some((arm) => drawn.includes(arm)) ? usual : drawn.slice(0, NAMED_ARMS);
  const clauses = named.flatMap((arm) => {
    const [from, to] = [first, last].map((step) => {
      const found = conditions.find((one) => one.condition === step && one.arm === arm)?.metrics[name];
      return found && { mean: found.mean * scale, low: found.low * scale, high: found.high * scale };
    });
    if (!from || !to) return [];
    return [`of ${arm} ${first === last ? `is ${formatNumber(to.mean, 1)} ${unit}` : changeFinding(from, to, unit)}`];
  });
  return capitalised(`${range(first, last)}, ${label} ${clauses.join(', ')}`);
}

function curvePoints(conditions: readonly ConditionResults[], metric: MetricDisplay, panel = '') {
  return conditions.flatMap(({ arm, condition, metrics }) => {
    const quality = metric.of(metrics);
    if (quality === null) return [];
    return [{ panel, arm, at: String(condition), ...estimateFields(quality, metric.scale) }];
  });
}

/** Figure 6: recall by depth of the conversation; undefined if quality is unknown. */
export function coherenceFigure(results: RunResults): Figure | undefined {
  return curveFigure(results, {
    id: 'coherence',
    number: '6',
    by: 'turn of the conversation',
    x: 'Turn of the conversation',
    range: (first, last) => `from turn ${first} to turn ${last} of the conversation`,
    panels: [{ place: null, panel: '' }],
  });
}

/** Figure F3: recall by number of memories and place of the evidence; undefined if quality is unknown. */
export function recallFigure(results: RunResults): Figure | undefined {
  return curveFigure(results, {
    id: 'recall',
    number: 'F3',
    by: 'number of memories',
    x: 'Memories',
    range: (first, last) => `from ${first} to ${last} memories`,
    panels: [
      { place: null, panel: 'All evidence' },
      { place: 'early', panel: 'Evidence in the oldest third' },
      { place: 'middle', panel: 'Evidence in the middle third' },
      { place: 'late', panel: 'Evidence in the newest third' },
    ],
  });
}
