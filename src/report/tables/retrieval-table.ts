import type { RetrievalMeasurement, RetrievalMeasurements, RunResults } from '../../records/results.ts';
import { captionOf, estimateCell, meanCell, none, textCell, type Block, type Cell, type Table } from '../table.ts';
import { formatProbability } from './comparisons-table.ts';

const share = { align: 'right', unit: '%', interval: true } as const;
const ms = { align: 'right', unit: 'ms' } as const;

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

function cellsOf({ metrics, againstRouter, timingsMs, budgetTokens }: RetrievalMeasurement): Record<string, Cell> {
  return {
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

/** The kinds of questions on which recall@5 of a strategy is above that of the router, by the intervals. */
function winsOf(strategy: string, rows: readonly RetrievalMeasurement[]): string {
  const won = rows.filter((one) => one.strategy === strategy && (one.againstRouter?.low ?? 0) > 0);
  if (won.length === 0) return `${strategy} on none`;
  const kinds = won.map(({ kind }) => (kind === 'all' ? 'all questions together' : kind));
  return `${strategy} on ${kinds.join(', ')}`;
}

/** Table 7: recall by retrieval strategy and kind of question. */
export function retrievalTable(results: RunResults, retrieval: RetrievalMeasurements): Table {
  const { users, memories, rows } = retrieval;
  const others = [...new Set(rows.flatMap(({ strategy, againstRouter }) => (againstRouter === null ? [] : strategy)))];
  const kinds = [...new Set(rows.map(({ kind }) => kind))];
  return {
    id: 'table-7',
    caption: captionOf('Table 7. Recall by retrieval strategy and kind of question', results),
    rowHeading: 'strategy, questions',
    blocks,
    rows: kinds.flatMap((kind) =>
      rows
        .filter((one) => one.kind === kind)
        .map((one) => ({ label: `${one.strategy}, ${kind}`, cells: cellsOf(one) })),
    ),
    notes: [
      `${rows[0]?.n ?? 0} questions of ${users} users with ${memories} memories or more, made by seed; evidence is known, and a`,
      'question may need several memories. Means with 95 % intervals over users; p by sign-flip over users, not adjusted.',
      ...(others.length === 0
        ? []
        : [
            "Kinds of questions on which recall@5 is above the router's, the whole interval of the difference above zero: " +
              `${others.map((strategy) => winsOf(strategy, rows)).join('; ')}.`,
          ]),
      "If --cold is PostgreSQL, tiered has a second row with pgvector's default probes (ivfflat-approximate): one list. With few",
      'memories PostgreSQL may scan the whole table, and both rows then agree.',
      'A strategy may return fewer than ten memories, by its budget, its files or its journal.',
      ...filterNotes(retrieval),
    ],
  };
}
