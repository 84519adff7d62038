import type { RetrievalMeasurement, RetrievalMeasurements, RunResults } from '../../store/records/results.ts';
import {
  captionOf,
  countCell,
  estimateCell,
  meanCell,
  none,
  textCell,
  type Block,
  type Cell,
  type Column,
  type Table,
} from '../../render/table.ts';
import { formatProbability } from './comparisons-table.ts';

const share = { align: 'right', unit: '%', interval: true } as const;
const ms = { align: 'right', unit: 'ms' } as const;

const questions: Column = { align: 'right', key: 'n', heading: 'questions' };

const blocks: readonly Block[] = [
  {
    title: 'Recall',
    columns: [
      { ...share, key: 'recallAt1', heading: 'recall@1' },
      { ...share, key: 'recallAt5', heading: 'recall@5' },
      { ...share, key: 'recallAt10', heading: 'recall@10' },
    ],
  },
  {
    title: 'Rank',
    columns: [
      { ...share, key: 'mrr', heading: 'MRR' },
      { ...share, key: 'ndcgAt10', heading: 'nDCG@10' },
    ],
  },
  {
    title: 'Recall@5 against the router',
    columns: [
      { align: 'right', key: 'delta', heading: 'difference', unit: 'points', interval: true },
      { align: 'right', key: 'p', heading: 'p' },
    ],
  },
  {
    title: 'Cost',
    columns: [
      { ...ms, key: 'embedding', heading: 'embedding' },
      { ...ms, key: 'search', heading: 'search' },
      { ...ms, key: 'ranking', heading: 'ranking' },
      { align: 'right', key: 'budget', heading: 'tokens of the budget' },
    ],
  },
];

const time = (value: number): Cell => ({ kind: 'number', value, digits: 2 });

function cellsOf({ n, metrics, againstRouter, timingsMs, budgetTokens }: RetrievalMeasurement): Record<string, Cell> {
  return {
    n: countCell(n),
    recallAt1: estimateCell(metrics.recallAt1, 100),
    recallAt5: estimateCell(metrics.recallAt5, 100),
    recallAt10: estimateCell(metrics.recallAt10, 100),
    mrr: estimateCell(metrics.mrr, 100),
    ndcgAt10: estimateCell(metrics.ndcgAt10, 100),
    delta:
      againstRouter === null
        ? none
        : estimateCell({ mean: againstRouter.delta, low: againstRouter.low, high: againstRouter.high }, 100),
    p: againstRouter === null ? none : textCell(formatProbability(againstRouter.p)),
    embedding: time(timingsMs.embedding),
    search: time(timingsMs.search),
    ranking: time(timingsMs.ranking),
    budget: meanCell(budgetTokens?.used),
  };
}

/** Counts of memories that the filter of a strategy would have dropped, if it has one. */
function filterNotes({ stats }: RetrievalMeasurements): string[] {
  return Object.entries(stats).flatMap(([strategy, { wouldBeFiltered }]) =>
    typeof wouldBeFiltered === 'object' && wouldBeFiltered !== null
      ? [
          `The ingress filter of ${strategy}, which guards its working memory alone, would have dropped: ` +
            Object.entries(wouldBeFiltered as Readonly<Record<string, unknown>>)
              .map(([reason, count]) => `${reason} ${String(count)}`)
              .join(', ') +
            '.',
        ]
      : [],
  );
}

/** The kinds of questions on which the interval of a strategy's difference to the router lies on one side, in words. */
function kindsWhere(
  rows: readonly RetrievalMeasurement[],
  strategy: string,
  isSo: (difference: NonNullable<RetrievalMeasurement['againstRouter']>) => boolean,
): string {
  const those = rows.filter(
    (one) => one.strategy === strategy && one.againstRouter !== null && isSo(one.againstRouter),
  );
  const names = those.map((one) =>
    one.kind === 'all' && one.dataset === undefined ? 'all questions together' : nameOf(one, rows),
  );
  return `${strategy} on ${names.length === 0 ? 'none' : names.join(', ')}`;
}

/** A kind of questions, with its data set where there are several. */
function nameOf({ dataset, kind }: RetrievalMeasurement, rows: readonly RetrievalMeasurement[]): string {
  return dataset === undefined || rows.every((other) => other.dataset === dataset) ? kind : `${dataset}: ${kind}`;
}

function differenceNotes(rows: readonly RetrievalMeasurement[]): string[] {
  const others = [...new Set(rows.flatMap(({ strategy, againstRouter }) => (againstRouter === null ? [] : strategy)))];
  if (others.length === 0) return [];
  const above = others.map((strategy) => kindsWhere(rows, strategy, ({ low }) => low > 0));
  const below = others.map((strategy) => kindsWhere(rows, strategy, ({ high }) => high < 0));
  return [
    "Kinds of questions on which recall@5 is above the router's, the whole interval of the difference above zero: " +
      `${above.join('; ')}. The whole interval below zero: ${below.join('; ')}.`,
  ];
}

/** Rows of strategies whose vectors are another embedder's. */
function embedderNotes({ run }: RunResults, rows: readonly RetrievalMeasurement[]): string[] {
  const others = new Map(
    rows.flatMap(({ strategy, embedder }) => (embedder === undefined ? [] : [[strategy, embedder] as const])),
  );
  return [...others].map(
    ([strategy, embedder]) =>
      `"${strategy}" is the router on vectors of ${embedder}, the embedder that ships; all others search by ${run.embedder.name}.`,
  );
}

const INTERVALS = 'Means with 95 % intervals over users; p by sign-flip over users, not adjusted.';
const FEWER = 'A strategy may return fewer than ten memories, by its budget, its files or its journal.';

/** Rows by kind of question, strategy by strategy, and the notes that both tables share. */
function drawn(
  results: RunResults,
  rows: readonly RetrievalMeasurement[],
): Pick<Table, 'rowHeading' | 'rows'> & { readonly compared: readonly string[] } {
  const kinds = [...new Set(rows.map((one) => nameOf(one, rows)))];
  return {
    rowHeading: 'strategy, questions',
    rows: kinds.flatMap((kind) =>
      rows
        .filter((one) => nameOf(one, rows) === kind)
        .map((one) => ({ label: `${one.strategy}, ${kind}`, cells: cellsOf(one) })),
    ),
    compared: [...embedderNotes(results, rows), ...differenceNotes(rows)],
  };
}

/** Table 7: recall by retrieval strategy and kind of question, on questions made by seed. */
export function retrievalTable(results: RunResults, retrieval: RetrievalMeasurements): Table {
  const { users, memories } = retrieval;
  const made = retrieval.rows.filter(({ dataset }) => dataset === undefined);
  const { compared, ...drawing } = drawn(results, made);
  return {
    id: 'table-7',
    caption: captionOf('Table 7. Recall by retrieval strategy and kind of question', results),
    blocks,
    ...drawing,
    notes: [
      `${made[0]?.n ?? 0} questions of ${users} users with ${memories} memories or more, made by seed; evidence is known, and a`,
      `question may need several memories. ${INTERVALS}`,
      ...compared,
      "If --cold is PostgreSQL, tiered has a second row with pgvector's default probes (ivfflat-approximate): one list. With few",
      'memories PostgreSQL may scan the whole table, and both rows then agree.',
      FEWER,
      ...filterNotes(retrieval),
    ],
  };
}

/** Table 7b: the same on the questions of the run's data sets, by category; undefined where none was asked. */
export function datasetRetrievalTable(
  results: RunResults,
  { rows, datasets = [] }: RetrievalMeasurements,
): Table | undefined {
  const asked = rows.filter(({ dataset }) => dataset !== undefined);
  if (asked.length === 0) return undefined;
  const { compared, ...drawing } = drawn(results, asked);
  const [recall, ...others] = blocks;
  return {
    id: 'table-7b',
    caption: captionOf(
      `Table 7b. Recall on the questions of ${datasets.map(({ name }) => name).join(' and ')}, by category`,
      results,
    ),
    blocks: [{ ...recall!, columns: [questions, ...recall!.columns] }, ...others],
    ...drawing,
    notes: [
      ...datasets.map(
        ({ name, users, memories, questions: n, leftOut }) =>
          `${name}: ${n} questions of ${users} users with ${memories} memories in all; ${leftOut} items that no memory answers are left out.`,
      ),
      INTERVALS,
      ...compared,
      FEWER,
      ...(asked.some(({ strategy }) => strategy === 'given')
        ? ['given is the list of each item: its times are those of looking memories up.']
        : []),
    ],
  };
}
