/** Retrieval strategies: tables 7 and 7b. */
import { type Difference } from '../../render/format-number.ts';
import { countColumn, intervalColumn, type ItemBlock, numberColumn, type Table, titled } from '../../render/table.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import type { RetrievalMeasurement, RetrievalMeasurements } from '../../store/records/suite-measurements.ts';
import { probabilityCell } from '../tables/arm-comparisons-tables.ts';
import { runTable } from '../tables/table-parts.ts';

type RowBlock = ItemBlock<RetrievalMeasurement>;
type Notes = readonly (string | false)[];

const share = (key: keyof RetrievalMeasurement['metrics'], heading: string) =>
  intervalColumn(key, `${heading} (%)`, ({ metrics }: RetrievalMeasurement) => metrics[key], 100);
const time = (key: 'embedding' | 'search' | 'ranking') =>
  numberColumn(key, `${key} (ms)`, ({ timingsMs }: RetrievalMeasurement) => timingsMs[key], 2);

const recall: RowBlock = titled('Recall', [
  share('recallAt1', 'recall@1'),
  share('recallAt5', 'recall@5'),
  share('recallAt10', 'recall@10'),
]);
const others: readonly RowBlock[] = [
  titled('Rank', [share('mrr', 'MRR'), share('ndcgAt10', 'nDCG@10')]),
  titled('Recall@5 against the router', [
    intervalColumn('delta', 'Δ vs router (pp)', ({ againstRouter }) => againstRouter, 100),
    numberColumn('p', 'p', ({ againstRouter }) => probabilityCell(againstRouter?.p)),
  ]),
  titled('Cost', [
    time('embedding'),
    time('search'),
    time('ranking'),
    numberColumn('budget', 'tokens of the budget', ({ budgetTokens }) => budgetTokens?.used),
  ]),
];

const INTERVALS = 'Means with 95 % intervals over users; p by sign-flip over users, not adjusted.';
const FEWER = 'A strategy may return fewer than ten memories, depending on its budget, files or journal.';

/** A kind of questions, with its data set if there are several. */
function kindName({ dataset, kind }: RetrievalMeasurement, rows: readonly RetrievalMeasurement[]): string {
  return dataset === undefined || rows.every((other) => other.dataset === dataset) ? kind : `${dataset}: ${kind}`;
}

/** Names the strategies with a higher and with a lower recall than the router; empty if none was compared. */
function differenceNotes(rows: readonly RetrievalMeasurement[]): string[] {
  const compared = rows.filter(({ againstRouter }) => againstRouter !== null);
  if (compared.length === 0) return [];
  const name = (row: RetrievalMeasurement): string =>
    row.kind === 'all' && row.dataset === undefined ? 'all questions together' : kindName(row, rows);
  const list = (holds: (difference: Difference) => boolean): string => {
    const lists = [...Map.groupBy(compared, ({ strategy }) => strategy)].map(([strategy, own]) => {
      const names = own.filter(({ againstRouter }) => holds(againstRouter!)).map(name);
      return `${strategy} on ${names.join(', ') || 'none'}`;
    });
    return lists.join('; ');
  };
  return [
    `Recall@5 above the router's, with the whole interval above zero: ${list(({ low }) => low > 0)}. ` +
      `Below the router's, with the whole interval below zero: ${list(({ high }) => high < 0)}.`,
  ];
}

/** `differenceNotes` over all generated questions. */
export function retrievalFinding({ rows }: RetrievalMeasurements): string | undefined {
  return differenceNotes(rows.filter(({ dataset, kind }) => dataset === undefined && kind === 'all'))[0];
}

/** A table of strategies by kind of questions. @param notes notes to put before and after those on embedders and differences */
function strategiesTable(
  results: RunResults,
  rows: readonly RetrievalMeasurement[],
  blocks: readonly RowBlock[],
  { notes: [first, last], ...table }: { id: string; title: string; notes: readonly [Notes, Notes] },
): Table {
  const ordered = [...Map.groupBy(rows, (one) => kindName(one, rows)).values()].flat();
  const embedders = new Map(
    rows.flatMap(({ strategy, embedder }) => (embedder === undefined ? [] : [[strategy, embedder]])),
  );
  const embedderNotes = [...embedders].map(
    ([strategy, embedder]) =>
      `"${strategy}" is the router on vectors of ${embedder}, the embedder that ships; all other strategies use ${results.run.embedder.name}.`,
  );
  return runTable(results, ordered, (one) => `${one.strategy}, ${kindName(one, rows)}`, {
    ...table,
    rowHeading: 'strategy, questions',
    blocks,
    notes: [...first, ...embedderNotes, ...differenceNotes(rows), ...last],
  });
}

/** How many memories the ingress filter of a strategy would have admitted, refused or ignored. */
function filterNotes({ stats }: RetrievalMeasurements): string[] {
  return Object.entries(stats).flatMap(([strategy, { wouldBeFiltered: counts }]) => {
    if (typeof counts !== 'object' || counts === null) return [];
    const verdicts = Object.entries(counts).map(([reason, count]) => `${reason} ${String(count)}`);
    return `The ingress filter of ${strategy} acts only on working memory; its verdicts on all memories: ${verdicts.join(', ')}.`;
  });
}

/** Table 7: recall by retrieval strategy and kind of question, on generated questions. */
export function retrievalTable(results: RunResults, retrieval: RetrievalMeasurements): Table {
  const made = retrieval.rows.filter(({ dataset }) => dataset === undefined);
  const first = [
    `${made[0]?.n ?? 0} questions of ${retrieval.users} users with ${retrieval.memories} memories or more, generated from a seed; evidence is known, and a`,
    `question may need several memories. ${INTERVALS}`,
  ];
  const last = [
    "With PostgreSQL as --cold, tiered has a second row with pgvector's default of one probed list (ivfflat-approximate). With few",
    'memories PostgreSQL may scan the whole table, and both rows then agree.',
    FEWER,
    ...filterNotes(retrieval),
  ];
  return strategiesTable(results, made, [recall, ...others], {
    id: 'table-7',
    title: 'Table 7. Recall by retrieval strategy and kind of question',
    notes: [first, last],
  });
}

/** Table 7b: recall on the questions of the run's data sets, by category; undefined if these were not measured. */
export function datasetRetrievalTable(results: RunResults, { rows: all, datasets = [] }: RetrievalMeasurements) {
  const rows = all.filter(({ dataset }) => dataset !== undefined);
  if (rows.length === 0) return undefined;
  const questions = countColumn('n', 'questions', ({ n }: RetrievalMeasurement) => n);
  const first = datasets.map(
    ({ name, users, memories, questions: n, leftOut }) =>
      `${name}: ${n} questions of ${users} users with ${memories} memories in all; ${leftOut} items that name no evidence are left out.`,
  );
  const isGiven = rows.some(({ strategy }) => strategy === 'given');
  return strategiesTable(results, rows, [{ ...recall, columns: [questions, ...recall.columns] }, ...others], {
    id: 'table-7b',
    title: `Table 7b. Recall on the questions of ${datasets.map(({ name }) => name).join(' and ')}, by category`,
    notes: [
      [...first, INTERVALS],
      [FEWER, isGiven && 'given returns the memories that each item lists; its times are those of looking them up.'],
    ],
  });
}
