/** Results by category and other kinds of items: the breakdown of table 1, tables 1c and 1d, planned contrasts, and their figures. */
import { type ModelContrast, modelContrasts } from '../../eval/analysis/compare/model-contrasts.ts';
import { contrastName } from '../../eval/analysis/summary/planned-contrast.ts';
import { type Figure, type FigureSpec, HALF_PANEL_WIDTH } from '../../render/figure.ts';
import { formatNumber } from '../../render/format-number.ts';
import {
  countColumn,
  estimateCell,
  intervalColumn,
  type ItemBlock,
  type ItemColumn,
  itemRows,
  numberColumn,
  partColumns,
  type Table,
  textColumn,
  titled,
} from '../../render/table.ts';
import type { MeasuredContrast } from '../../store/records/planned-contrast.ts';
import type { ArmResults, BreakdownPart, RetrievalKind, RunResults } from '../../store/records/run-results.ts';
import { armEncoding, isContender, namedArmEncoding } from '../figures/arm-encoding.ts';
import {
  distinct,
  estimateFields,
  estimateText,
  facets,
  intervalLayer,
  MEANS,
  measuredScale,
  nameAxis,
  quantity,
} from '../figures/figure-parts.ts';
import { baselineArm, primaryArm } from '../find-arms-and-comparisons.ts';
import { findMetric, type MetricDisplay, metricsNamed, taskSuccessMeaning } from '../metric-display.ts';
import { probabilityCell } from '../tables/arm-comparisons-tables.ts';
import { armTable, timingNotes } from '../tables/table-parts.ts';
import { lackOfProof } from '../validity-caveats.ts';
import { contrastSentences, sentencesTitle } from '../verdict-sentences.ts';

type Field = BreakdownPart['field'];

const dimensions: readonly { readonly field: Field; readonly title: string; readonly leastValues: number }[] = [
  { field: 'userKind', title: 'By kind of user', leastValues: 1 },
  { field: 'category', title: 'By category (exploratory)', leastValues: 1 },
  { field: 'phrasing', title: 'By phrasing of the question', leastValues: 1 },
  { field: 'language', title: 'By language', leastValues: 2 },
];

export function fieldValues(arms: readonly ArmResults[], field: Field): string[] {
  const parts = arms.flatMap(({ breakdown }) => breakdown.filter((part) => part.field === field));
  return [...new Set(parts.map(({ value }) => value))];
}

export function findPart({ breakdown }: ArmResults, field: Field, value: string): BreakdownPart | undefined {
  return breakdown.find((part) => part.field === field && part.value === value);
}

export const supersededNote =
  'Superseded: the share of answers that give an outdated value and not the right one, over items whose data name one.';

/** The column of superseded answers in one part of the items; none if no item there has a superseded value. */
function supersededColumns({ run, arms }: RunResults, field: Field, value: string): ItemColumn<ArmResults>[] {
  const superseded = findMetric(run, 'superseded')!;
  const metrics = (arm: ArmResults) => findPart(arm, field, value)?.metrics;
  if (arms.every((arm) => superseded.of(metrics(arm)) === null)) return [];
  return [intervalColumn(`${field}:${value}:superseded`, superseded.heading, (arm) => superseded.cell(metrics(arm)))];
}

/** Table 1 broken down: task success by kind of user, category, phrasing, and language if there are several. */
export function breakdownTable(
  results: RunResults,
  fields: readonly Field[] = dimensions.map(({ field }) => field),
): Table {
  const { run, arms } = results;
  const success = findMetric(run, 'taskSuccess')!;
  const blocks = dimensions
    .filter(({ field }) => fields.includes(field))
    .map((dimension) => ({ ...dimension, values: fieldValues(arms, dimension.field) }))
    .filter(({ values, leastValues }) => values.length >= leastValues);
  return armTable(results, {
    id: 'table-1-breakdown',
    title: 'Table 1, broken down. Task success',
    blocks: blocks.map(({ field, title, values }) => ({
      title,
      columns: values.flatMap((value) => [
        intervalColumn(`${field}:${value}`, `${value} (%)`, (arm: ArmResults) => {
          const part = findPart(arm, field, value);
          return part && success.cell(part.metrics);
        }),
        ...(field === 'category' ? supersededColumns(results, field, value) : []),
      ]),
    })),
    notes: [`Means with 95 % intervals over users. Task success is ${taskSuccessMeaning(run)}.`],
  });
}

/** Table 1c: task success and ln p of the gold by category, and each arm's differences to text; undefined without comparisons by category. */
export function categoryTable(results: RunResults): Table | undefined {
  const { run, arms } = results;
  const categories = fieldValues(arms, 'category');
  const parts = arms.flatMap(({ breakdown }) => breakdown.filter(({ field }) => field === 'category'));
  const against = parts.flatMap(({ difference }) => difference?.against ?? [])[0];
  if (against === undefined || categories.length < 2) return undefined;
  const [success, gold] = metricsNamed(run, 'taskSuccess', 'goldLogProb') as [MetricDisplay, MetricDisplay];
  const items = (category: string): number =>
    Math.max(0, ...parts.map(({ value, metrics }) => (value === category ? (metrics.taskSuccess?.n ?? 0) : 0)));
  return armTable(results, {
    id: 'table-1c',
    title: 'Table 1c. Exploratory: task success by category, and the difference to text',
    blocks: categories.map((category): ItemBlock<ArmResults> => {
      const part = (arm: ArmResults) => findPart(arm, 'category', category);
      const hasGold = parts.some(({ value, goldDifference }) => value === category && goldDifference !== undefined);
      return titled(`${category}, ${items(category)} items`, [
        intervalColumn(`${category}:success`, `${category} (%)`, (arm) => success.cell(part(arm)?.metrics)),
        ...supersededColumns(results, 'category', category),
        intervalColumn(`${category}:difference`, `Δ vs ${against} (pp)`, (arm) => part(arm)?.difference, 100),
        hasGold &&
          intervalColumn(`${category}:gold`, 'gold answer (nats per token)', (arm) => gold.cell(part(arm)?.metrics)),
        hasGold &&
          gold.differenceColumn(`${category}:goldDifference`, `Δ vs ${against}`, (arm) => part(arm)?.goldDifference),
      ]);
    }),
    notes: [
      arms.some(({ metrics }) => metrics.superseded !== null) && supersededNote,
      `Task success is ${taskSuccessMeaning(run)}; differences are paired by item.`,
      'Means with 95 % intervals over users. Differences are not tested, since there are many categories: there is no verdict.',
      run.dataset.plannedContrast === undefined
        ? 'The data plan no contrast between categories, so that all of this table is exploratory.'
        : 'Only the planned contrast was chosen before the run; all of this table is exploratory.',
      noiseNote(results),
    ],
  });
}

/** Names the differences in ln p of the gold that are smaller than the noise of the engine. */
function noiseNote({ run: { logProbNoise = 0 }, arms }: RunResults): string | undefined {
  const below = arms.flatMap(({ arm, breakdown }) =>
    breakdown.flatMap(({ value, goldDifference }) => {
      const size = Math.abs(goldDifference?.delta ?? 0);
      return size > 0 && size <= logProbNoise ? [`${arm} on ${value}`] : [];
    }),
  );
  if (below.length === 0) return undefined;
  return `Below the engine's noise of ${logProbNoise.toExponential(1)} nats per token: ${below.join(', ')}.`;
}

const retrievalKinds: Readonly<Record<RetrievalKind, string>> = {
  everything: 'Users with all memories retrieved',
  selection: 'Users with a selection of memories retrieved',
};

function retrievalBlock(kind: RetrievalKind): ItemBlock<ArmResults> {
  const ofKind = ({ byRetrieval }: ArmResults) => byRetrieval?.find((one) => one.kind === kind);
  const columns = partColumns(ofKind, [
    countColumn(`${kind}:turns`, 'turns', ({ turns }) => turns),
    countColumn(`${kind}:hits`, 'hits', ({ hits }) => hits),
    numberColumn(`${kind}:hitRate`, 'hit rate (%)', ({ hits, turns }) => (100 * hits) / turns),
    numberColumn(`${kind}:evaluatedHit`, 'tokens evaluated (cache hits)', ({ costHit }) => costHit?.tokens.evaluated),
    numberColumn(`${kind}:evaluatedAll`, 'tokens evaluated (all turns)', ({ costAll }) => costAll?.tokens.evaluated),
    intervalColumn(`${kind}:ttftHit`, 'TTFT, cache hits (ms)', ({ costHit }) => costHit?.ttftMs),
    intervalColumn(`${kind}:ttftAll`, 'TTFT, all turns (ms)', ({ costAll }) => costAll?.ttftMs),
  ]);
  return titled(retrievalKinds[kind], columns);
}

/** Table 1d: costs for users with all or with some memories retrieved; undefined without a primary arm, which defines cache hits. */
export function byRetrievalTable(results: RunResults): Table | undefined {
  const parts = primaryArm(results.arms)?.byRetrieval ?? [];
  if (parts.length === 0) return undefined;
  return armTable(results, {
    id: 'table-1d',
    title: 'Table 1d. Cache hits by share of memories retrieved',
    blocks: parts.map(({ kind }) => retrievalBlock(kind)),
    notes: [
      ...parts.map(
        ({ kind, users, usersWithHits, hits }) =>
          `${retrievalKinds[kind]}: ${users}, ${usersWithHits} of them with cache hits, ${hits} in all.`,
      ),
      ...timingNotes(results.run),
    ],
  });
}

const measured = ({ contrast: { found } }: ModelContrast): MeasuredContrast | undefined =>
  found.state === 'measured' ? found : undefined;

const PLACES = ['first', 'second'] as const;

/** The planned contrasts of one or several runs, one row per model; undefined if the data plan none. */
export function contrastTable(runs: readonly RunResults[]): Table | undefined {
  const rows = modelContrasts(runs);
  const [first] = rows;
  if (first === undefined) return undefined;
  const models = rows.map(({ results: { run } }) => run.model.name);
  const label = ({ results: { run } }: ModelContrast): string =>
    models.filter((name) => name === run.model.name).length > 1 ? `${run.model.name} (${run.name})` : run.model.name;
  const lacking = rows.flatMap((row) => {
    const lack = lackOfProof(row.results);
    return lack === undefined ? [] : [`${label(row)}: ${lack}`];
  });
  const plans = [...new Set(rows.map(({ results: { run }, contrast }) => planText(run, contrast)))];
  return {
    id: 'contrast',
    caption: `Planned contrast, by model${lacking.length === 0 ? '' : ` (${lacking.join('; ')})`}`,
    rowHeading: 'model',
    ...itemRows(rows, label, [
      titled('Contrast', [
        numberColumn('parameters', 'parameters (M)', ({ results: { run } }) => (run.model.parameters ?? NaN) / 1e6),
        textColumn('data', 'data', ({ results: { run } }) => run.dataset.name),
        intervalColumn('contrast', 'contrast (pp)', measured, 100),
        numberColumn('p', 'p', (row) => probabilityCell(measured(row)?.p)),
        numberColumn('pAdjusted', 'p (Holm)', ({ pAdjusted }) => probabilityCell(pAdjusted)),
        textColumn('verdict', 'verdict', ({ contrast: { found }, verdict }) =>
          found.state === 'absent' ? `absent: ${found.why}` : verdict,
        ),
      ]),
      titled('Smallest contrast that can be shown (pp)', [
        numberColumn('before', 'by plan', ({ contrast: { before } }) => before.detectable && before.detectable * 100),
        numberColumn('after', 'by these items', (row) => (measured(row)?.detectable ?? NaN) * 100),
      ]),
      ...PLACES.map((place, index) =>
        titled(`Difference on the ${place} category`, [
          textColumn<ModelContrast>(`${place}:category`, 'category', (row) => measured(row)?.parts[index]?.category),
          intervalColumn<ModelContrast>(`${place}:difference`, 'Δ (pp)', (row) => measured(row)?.parts[index], 100),
          ...(['n', 'wins', 'losses', 'ties'] as const).map((key) =>
            countColumn<ModelContrast>(`${place}:${key}`, key, (row) => measured(row)?.parts[index]?.[key]),
          ),
        ]),
      ),
      titled('Exploratory: the same contrast in ln p of the gold', [
        intervalColumn('goldLogProb', 'nats per token', (row) => estimateCell(measured(row)?.goldLogProb, 1, 3)),
        textColumn('noise', 'engine', (row) => (isNoise(row) ? 'below its noise' : null)),
      ]),
    ]),
    notes: [
      ...plans,
      'Positive: the arm gains more, or loses less, on the first category. Holm: over the runs of this table with the same data and',
      'contrast, one per model. By plan: before the run, with 80 % power at a two-sided level of 5 %.',
    ],
  };
}

function planText({ dataset }: RunResults['run'], { planned, before }: ModelContrast['contrast']): string {
  const percent = formatNumber(planned.discordance * 100, 0);
  return (
    `${dataset.name}: ${contrastName(planned)}, planned for ${before.items.join(' and ')} independent items if the arms differ on ` +
    `${percent} % of them.`
  );
}

/** Twice the noise of one difference: a contrast is the difference of two. */
function isNoise(row: ModelContrast): boolean {
  const delta = Math.abs(measured(row)?.goldLogProb?.delta ?? 0);
  return delta > 0 && delta <= 2 * (row.results.run.logProbNoise ?? 0);
}

/** The differences to text in points, by category and arm. */
const categoryDifferences = (arms: readonly ArmResults[]) =>
  fieldValues(arms, 'category').flatMap((category) =>
    arms.flatMap((arm) => {
      const difference = findPart(arm, 'category', category)?.difference;
      if (difference === undefined) return [];
      return [{ category, arm: arm.arm, ...estimateFields({ mean: difference.delta, ...difference }, 100) }];
    }),
  );

type CategoryDifference = ReturnType<typeof categoryDifferences>[number];

/** A panel for each category, with points and intervals along an axis, and a rule at no difference. */
function categoryPanels(data: readonly CategoryDifference[], axis: 'x' | 'y', baseline: string, spec: FigureSpec) {
  const { shape, ...others } = spec;
  const scale = measuredScale([...data, { value: 0 }]);
  const along = quantity(`Δ vs ${baseline}, points`, scale, { tickCount: 4, grid: true });
  const across = axis === 'x' ? { y: null } : { x: null, xOffset: null };
  const zero = {
    transform: [{ aggregate: [], groupby: ['category'] }],
    mark: { type: 'rule', opacity: 0.5 },
    encoding: { [axis]: { datum: 0 }, ...across, color: null },
  };
  const points = { mark: 'point', encoding: { [axis]: { ...along, field: 'value' }, shape } };
  const panels = distinct(data.map(({ category }) => category));
  const layer = [zero, intervalLayer(axis, along), points];
  return facets('category', panels, 2, { width: HALF_PANEL_WIDTH, ...others, layer });
}

/** The difference to text by category, one panel each; undefined where the data plan no contrast of categories. */
export function categoryFigure(results: RunResults): Figure | undefined {
  const { arms, contrast, run } = results;
  const baseline = baselineArm(arms)?.arm;
  if (contrast === undefined || baseline === undefined) return undefined;
  const shown = arms.filter(({ arm }) => arm !== baseline && isContender(results, arm));
  const data = categoryDifferences(shown);
  if (data.length === 0) return undefined;
  const names = distinct(data.map(({ arm }) => arm));
  const { color, shape } = namedArmEncoding(results, names);
  const words = data.map((one) => `${one.category}: ${one.arm} ${estimateText(one, 'points')}`);
  const title = `Task success (${taskSuccessMeaning(run)}) minus that of ${baseline}, by category, exploratory`;
  return {
    id: 'categories',
    title: `Figure F0. ${sentencesTitle(contrastSentences(results, false))}`,
    key: `${MEANS} By category all is exploratory but the planned contrast.`,
    description: `${title}, with 95 % intervals: ${words.join('; ')}.`,
    data,
    spec: categoryPanels(data, 'x', baseline, {
      height: { step: 16 },
      encoding: { y: nameAxis('arm', names), color },
      shape,
    }),
  };
}

/**
 * The difference to text by size of model, one panel a category, in runs of the same data that plan a contrast, one per model.
 * @param arms the arms to draw
 */
export function modelSizeFigure(runs: readonly RunResults[], arms: readonly string[]): Figure | undefined {
  const bySize = runs
    .filter(({ contrast }) => contrast !== undefined)
    .toSorted((a, b) => (a.run.model.parameters ?? 0) - (b.run.model.parameters ?? 0));
  const data = bySize.flatMap((results) =>
    categoryDifferences(results.arms.filter(({ arm }) => arms.includes(arm))).map((one) => ({
      ...one,
      model: `${formatNumber((results.run.model.parameters ?? NaN) / 1e6, 0)} M`,
    })),
  );
  const [first] = bySize;
  const baseline = first && baselineArm(first.arms)?.arm;
  if (data.length === 0 || first === undefined || baseline === undefined) return undefined;
  const names = distinct(data.map(({ arm }) => arm));
  const { color, shape } = armEncoding(first, names);
  const models = distinct(data.map(({ model }) => model));
  const x = { field: 'model', type: 'nominal', sort: models, axis: { title: 'parameters', labelAngle: 0 } };
  const words = data.map((one) => `${one.category}, ${one.model}, ${one.arm}: ${estimateText(one, 'points')}`);
  const title = `Task success (${taskSuccessMeaning(first.run)}) minus that of ${baseline}`;
  return {
    id: 'model-size',
    title: `${title}, by size of model and kind of question`,
    key: MEANS,
    description: `${title}, with 95 % intervals: ${words.join('; ')}.`,
    data,
    spec: categoryPanels(data, 'y', baseline, {
      height: 90,
      encoding: { x, xOffset: { field: 'arm', type: 'nominal', sort: names }, color },
      shape,
    }),
  };
}
