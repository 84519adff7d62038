/** Retrieval strategies: tables 7 and 7b, and figure 7. */
import { present } from '../../base/present.ts';
import { type Figure, PANEL_WIDTH } from '../../render/figure.ts';
import { type Difference, formatNumber } from '../../render/format-number.ts';
import { countColumn, intervalColumn, type ItemBlock, numberColumn, type Table, titled } from '../../render/table.ts';
import type { RunResults } from '../../store/records/run-results.ts';
import type { RetrievalMeasurement, RetrievalMeasurements } from '../../store/records/suite-measurements.ts';
import { estimateFields, estimateText, intervalLayer, MEANS, nameAxis, quantity } from '../figures/figure-parts.ts';
import { probabilityCell } from '../tables/arm-comparisons-tables.ts';
import { runTable } from '../tables/table-parts.ts';
import { containsZero, listed, sizeText } from '../verdict-wording.ts';

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

/** `against router (72.2 %), recall@5 is higher with salience (by 9.2 [5.6, 12.8] points), lower with tiered (…)` */
function retrievalFinding(rows: readonly RetrievalMeasurement[]): string {
  const base = rows.find(({ againstRouter }) => againstRouter === null);
  const recall = base?.metrics.recallAt5 ?? null;
  if (base === undefined || recall === null) return 'Recall@5 by strategy; none were compared';
  const part = (words: string, isPart: (difference: Difference) => boolean, isSized = true) => {
    const some = rows.flatMap(({ strategy, againstRouter: difference }) => {
      if (difference === null || !isPart(difference)) return [];
      return isSized ? `${strategy} (by ${sizeText(difference, 100, 1)} points)` : strategy;
    });
    return some.length > 0 && `${words} with ${listed(some)}`;
  };
  const parts = present([
    part('higher', ({ low }) => low > 0),
    part('lower', ({ high }) => high < 0),
    part('not shown to differ', containsZero, false),
  ]);
  const against = `${base.strategy} (${formatNumber(recall.mean * 100, 1)} %)`;
  return parts.length === 0 ? `Recall@5 with ${against}` : `Against ${against}, recall@5 is ${parts.join('; ')}`;
}

/** Figure 7: recall@5 and time per question of retrieval strategies, over all generated questions; undefined if not measured. */
export function retrievalFigure(results: RunResults): Figure | undefined {
  const rows = results.measured?.retrieval?.rows ?? [];
  const shown = rows.filter(({ dataset, kind }) => dataset === undefined && kind === 'all');
  const data = shown.flatMap(({ strategy, metrics: { recallAt5 }, timingsMs }) =>
    recallAt5 === null ? [] : [{ strategy, ...estimateFields(recallAt5, 100), ms: timingsMs.total }],
  );
  if (data.length === 0) return undefined;
  const y = nameAxis(
    'strategy',
    data.map(({ strategy }) => strategy),
  );
  const height = 26 * data.length;
  const recall = quantity('Recall@5, %', { domain: [0, 100] }, { grid: true, tickCount: 3 });
  const words = data.map(
    ({ strategy, ms, ...recall }) => `${strategy} ${estimateText(recall, '%')} in ${ms.toFixed(2)} ms`,
  );
  return {
    id: 'retrieval',
    title: `Figure 7. ${retrievalFinding(shown)}`,
    key: `${MEANS} Bars are mean times per question.`,
    description: `Recall@5 over all questions with 95 % intervals, and mean time per question: ${words.join('; ')}.`,
    data,
    spec: {
      spacing: 14,
      hconcat: [
        {
          // Recall gets more width, since its intervals are short.
          width: 0.5 * PANEL_WIDTH,
          height,
          encoding: { y },
          layer: [
            intervalLayer('x', recall, { mark: { color: 'currentColor', strokeWidth: 3, opacity: 0.45 } }),
            {
              mark: { type: 'point', color: 'currentColor', size: 16 },
              encoding: { x: { ...recall, field: 'value' } },
            },
          ],
        },
        {
          width: 0.3 * PANEL_WIDTH,
          height,
          mark: { type: 'bar', color: 'currentColor', opacity: 0.6, size: 10 },
          encoding: {
            y: { ...y, axis: { title: null, grid: true, labels: false } },
            x: { field: 'ms', ...quantity('ms per question', {}, { grid: true, tickCount: 3 }) },
          },
        },
      ],
    },
  };
}
