import type { ArmResults, BreakdownPart, RetrievalKind, RunResults } from '../../store/records/run-results.ts';
import { countColumn, intervalColumn, type ItemBlock, type ItemColumn, numberColumn, partColumns, type Table, titled } from '../../render/table.ts'; // prettier-ignore
import { primaryArm } from '../find-arms-and-comparisons.ts';
import { findMetric, type MetricDisplay, metricsNamed, taskSuccessMeaning } from '../metric-display.ts';
import { armTable, timingNotes } from './table-parts.ts';

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
